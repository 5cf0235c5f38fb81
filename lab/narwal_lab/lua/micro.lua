-- Microbenchmarks: one kind of statement each, over the tables that sysbench's oltp_* scripts prepare.
--   sysbench micro.lua --op=NAME --tables=4 --table-size=100000 ... run
--
--   insert            a row with a generated id
--   delete            by id, each row once: a run that is faster must not delete rows that are gone
--   update-index      the indexed column k of a random row
--   update-nonindex   the column c of a random row
--   update-inlist     the column c of --inlist random rows in one statement
--   update-one        the column c of one row, always the same
--   update-zipf       the column c of a row chosen by Zipf's law, the popular ones scattered over the table
--   hot-page          the column c of a row of the thread's own, all of them neighbours

sysbench.cmdline.options = {
   op = {"Statement to run, see the head of the script", "update-nonindex"},
   tables = {"Number of tables", 1},
   table_size = {"Rows per table", 10000},
   inlist = {"Rows of a statement of update-inlist", 20},
   zipf = {"Exponent of update-zipf, below 1", 0.99}
}

local c_format = "###########-###########-###########-###########-###########-" ..
   "###########-###########-###########-###########-###########"
local pad_format = "###########-###########-###########-###########-###########"

local function row()
   return sysbench.rand.uniform(1, sysbench.opt.table_size)
end

-- Ranks by Zipf's law, after Gray et al., "Quickly generating billion-record synthetic databases" (1994).
local function zipf(n, theta)
   local zeta = 0
   for i = 1, n do zeta = zeta + 1 / i ^ theta end
   local alpha = 1 / (1 - theta)
   local eta = (1 - (2 / n) ^ (1 - theta)) / (1 - (1 + 0.5 ^ theta) / zeta)
   return function()
      local u = sysbench.rand.uniform_double()
      local uz = u * zeta
      if uz < 1 then return 1 end
      if uz < 1 + 0.5 ^ theta then return 2 end
      return math.min(n, 1 + math.floor(n * (eta * u - eta + 1) ^ alpha))
   end
end

local function gcd(a, b)
   while b ~= 0 do a, b = b, a % b end
   return a
end

-- A step that visits all of 0 .. n-1 in an order that looks random.
local function stride(n)
   local step = math.max(1, math.floor(n * 0.6180339887))
   while gcd(step, n) ~= 1 do step = step + 1 end
   return step
end

-- A function per operation, made once a thread: it executes one statement.
local make = {}

local function one_parameter(sql)
   local statements = {}
   for t = 1, sysbench.opt.tables do
      local stmt = con:prepare(string.format(sql, t))
      local id = stmt:bind_create(sysbench.sql.type.INT)
      stmt:bind_param(id)
      statements[t] = {stmt = stmt, id = id}
   end
   return function(table_number, id)
      statements[table_number].id:set(id)
      statements[table_number].stmt:execute()
   end
end

local function two_parameters(sql)
   local statements = {}
   for t = 1, sysbench.opt.tables do
      local stmt = con:prepare(string.format(sql, t))
      local c = stmt:bind_create(sysbench.sql.type.CHAR, 120)
      local id = stmt:bind_create(sysbench.sql.type.INT)
      stmt:bind_param(c, id)
      statements[t] = {stmt = stmt, c = c, id = id}
   end
   return function(table_number, id)
      statements[table_number].c:set_rand_str(c_format)
      statements[table_number].id:set(id)
      statements[table_number].stmt:execute()
   end
end

local function any_table()
   return sysbench.rand.uniform(1, sysbench.opt.tables)
end

make["insert"] = function()
   local statements = {}
   for t = 1, sysbench.opt.tables do
      local stmt = con:prepare(string.format("INSERT INTO sbtest%d (k, c, pad) VALUES (?, ?, ?)", t))
      local k = stmt:bind_create(sysbench.sql.type.INT)
      local c = stmt:bind_create(sysbench.sql.type.CHAR, 120)
      local pad = stmt:bind_create(sysbench.sql.type.CHAR, 60)
      stmt:bind_param(k, c, pad)
      statements[t] = {stmt = stmt, k = k, c = c, pad = pad}
   end
   return function()
      local s = statements[any_table()]
      s.k:set(row())
      s.c:set_rand_str(c_format)
      s.pad:set_rand_str(pad_format)
      s.stmt:execute()
   end
end

make["delete"] = function()
   local delete = one_parameter("DELETE FROM sbtest%d WHERE id = ?")
   -- Thread i takes the places i, i + threads, ... of one order over all rows of all tables.
   local rows = sysbench.opt.tables * sysbench.opt.table_size
   local step = stride(rows)
   local place = sysbench.tid
   return function()
      if place >= rows then error("all rows are deleted: give more rows or less time") end
      local at = (place * step) % rows
      place = place + sysbench.opt.threads
      delete(math.floor(at / sysbench.opt.table_size) + 1, at % sysbench.opt.table_size + 1)
   end
end

make["update-index"] = function()
   local update = one_parameter("UPDATE sbtest%d SET k = k + 1 WHERE id = ?")
   return function() update(any_table(), row()) end
end

make["update-nonindex"] = function()
   local update = two_parameters("UPDATE sbtest%d SET c = ? WHERE id = ?")
   return function() update(any_table(), row()) end
end

make["update-one"] = function()
   local update = two_parameters("UPDATE sbtest%d SET c = ? WHERE id = ?")
   local middle = math.floor(sysbench.opt.table_size / 2)
   return function() update(1, middle) end
end

make["update-zipf"] = function()
   local update = two_parameters("UPDATE sbtest%d SET c = ? WHERE id = ?")
   local n = sysbench.opt.table_size
   local rank = zipf(n, sysbench.opt.zipf)
   local step = stride(n)
   return function() update(any_table(), (rank() * step) % n + 1) end
end

make["hot-page"] = function()
   local update = two_parameters("UPDATE sbtest%d SET c = ? WHERE id = ?")
   return function() update(1, sysbench.tid + 1) end
end

make["update-inlist"] = function()
   local n = sysbench.opt.inlist
   local statements = {}
   for t = 1, sysbench.opt.tables do
      local stmt = con:prepare(string.format("UPDATE sbtest%d SET c = ? WHERE id IN (%s)", t, string.rep("?", n, ",")))
      local binds = {stmt:bind_create(sysbench.sql.type.CHAR, 120)}
      for i = 1, n do binds[i + 1] = stmt:bind_create(sysbench.sql.type.INT) end
      stmt:bind_param(unpack(binds))
      statements[t] = {stmt = stmt, binds = binds}
   end
   return function()
      local s = statements[any_table()]
      s.binds[1]:set_rand_str(c_format)
      for i = 1, n do s.binds[i + 1]:set(row()) end
      s.stmt:execute()
   end
end

function thread_init()
   drv = sysbench.sql.driver()
   con = drv:connect()
   local maker = make[sysbench.opt.op]
   if not maker then error("unknown --op=" .. sysbench.opt.op) end
   run_one = maker()
end

function thread_done()
   con:disconnect()
end

function event()
   run_one()
end
