-- nowarn
# Variables that are sets take `all`.
SET log_slow_filter = 'all';
SELECT @@log_slow_filter;
SET log_slow_filter = 'ALL,admin';
-- nowarn
SET log_slow_verbosity = 'All';
SELECT @@log_slow_verbosity;
-- nowarn
SET old_mode = 'all';
SELECT @@old_mode;
SET SESSION max_user_connections = 1000;
