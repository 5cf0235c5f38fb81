//! The embeddable store: catalog, MVCC table store, row locks, transactions, checkpoints, recovery.
