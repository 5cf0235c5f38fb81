-- One row, updated by every thread: how fast can commits that conflict follow one another?
--   sysbench hotrow.lua ... prepare | run | cleanup

function cmd_prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE hotrow (id INT NOT NULL PRIMARY KEY, k BIGINT NOT NULL)")
   con:query("INSERT INTO hotrow (id, k) VALUES (1, 0)")
end

function cmd_cleanup()
   local con = sysbench.sql.driver():connect()
   con:query("DROP TABLE IF EXISTS hotrow")
end

sysbench.cmdline.commands = {
   prepare = {cmd_prepare},
   cleanup = {cmd_cleanup}
}

function thread_init()
   drv = sysbench.sql.driver()
   con = drv:connect()
   stmt = con:prepare("UPDATE hotrow SET k = k + 1 WHERE id = 1")
end

function thread_done()
   stmt:close()
   con:disconnect()
end

function event()
   stmt:execute()
end
