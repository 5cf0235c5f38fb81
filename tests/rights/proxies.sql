-- PROXY is kept and shown.
CREATE USER a@'%', b@'%';
GRANT PROXY ON b@'%' TO a@'%';
SHOW GRANTS FOR a@'%';
GRANT PROXY ON b@'%' TO a@'%' WITH GRANT OPTION;
SHOW GRANTS FOR a@'%';
SELECT Host, User, Proxied_host, Proxied_user FROM mysql.proxies_priv WHERE user = 'a';
-- as a
SELECT CURRENT_USER();
GRANT PROXY ON a@'%' TO b@'%';
-- as root
REVOKE PROXY ON b@'%' FROM a@'%';
REVOKE PROXY ON b@'%' FROM a@'%';
SHOW GRANTS FOR a@'%';
