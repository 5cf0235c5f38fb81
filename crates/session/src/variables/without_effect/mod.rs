//! Variables of MariaDB for things that Narwal does not have or does in another way. Clients and scripts that set them go on; SET says
//! in a warning that it has no effect. Those that would change what a statement means take their default only.

pub(super) mod cluster;
pub(super) mod engines;
pub(super) mod innodb_details;
pub(super) mod schema_sizes;
pub(super) mod tuning;
