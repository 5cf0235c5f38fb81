//! Client sessions: variables, users and privileges, SHOW, statement dispatch.
