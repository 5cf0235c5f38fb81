-- The insert benchmark: a table of purchases, loaded in key order, then with three secondary indexes whose keys arrive in random
-- order, then with queries beside the inserts. One phase a call:
--   sysbench insertbench.lua --rows-per-statement=100 ... prepare | index | run | cleanup
--   --phase=insert   every event is one INSERT of --rows-per-statement rows
--   --phase=query    every event is one short range query over a secondary index
--   --phase=mixed    thread 0 inserts, the others query

sysbench.cmdline.options = {
   phase = {"insert, query or mixed", "insert"},
   rows_per_statement = {"Rows of one INSERT", 100},
   data_length = {"Characters of the column data", 10},
   limit = {"Rows of one query", 10}
}

local products, registers, customers, prices = 10000, 1000, 100000, 500

function cmd_prepare()
   local con = sysbench.sql.driver():connect()
   con:query([[CREATE TABLE purchases (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, at DATETIME NOT NULL, register INT NOT NULL, customer INT NOT NULL,
      product INT NOT NULL, price INT NOT NULL, data VARCHAR(4000) NOT NULL)]])
end

function cmd_index()
   local con = sysbench.sql.driver():connect()
   con:query("ALTER TABLE purchases ADD INDEX market (price, customer), ADD INDEX register (register, price, customer), " ..
      "ADD INDEX per_day (price, at, customer)")
end

function cmd_cleanup()
   local con = sysbench.sql.driver():connect()
   con:query("DROP TABLE IF EXISTS purchases")
end

sysbench.cmdline.commands = {
   prepare = {cmd_prepare},
   index = {cmd_index},
   cleanup = {cmd_cleanup}
}

function thread_init()
   drv = sysbench.sql.driver()
   con = drv:connect()
   data_format = string.rep("@", sysbench.opt.data_length)
   inserts = sysbench.opt.phase == "insert" or sysbench.opt.phase == "mixed" and sysbench.tid == 0
end

function thread_done()
   con:disconnect()
end

local function insert()
   local rows = {}
   local at = os.date("%Y-%m-%d %H:%M:%S")
   for i = 1, sysbench.opt.rows_per_statement do
      rows[i] = string.format("('%s',%d,%d,%d,%d,'%s')", at, sysbench.rand.uniform(1, registers),
         sysbench.rand.uniform(1, customers), sysbench.rand.uniform(1, products), sysbench.rand.uniform(1, prices * 100),
         sysbench.rand.string(data_format))
   end
   con:query("INSERT INTO purchases (at, register, customer, product, price, data) VALUES " .. table.concat(rows, ","))
end

local queries = {
   function()
      return string.format("SELECT price, customer FROM purchases FORCE INDEX (market) WHERE price >= %d " ..
         "ORDER BY price, customer LIMIT %d", sysbench.rand.uniform(1, prices * 100), sysbench.opt.limit)
   end,
   function()
      return string.format("SELECT register, price, customer FROM purchases FORCE INDEX (register) WHERE register = %d " ..
         "AND price >= %d ORDER BY register, price, customer LIMIT %d", sysbench.rand.uniform(1, registers),
         sysbench.rand.uniform(1, prices * 100), sysbench.opt.limit)
   end
}

function event()
   if inserts then insert() else con:query(queries[sysbench.rand.uniform(1, #queries)]()) end
end
