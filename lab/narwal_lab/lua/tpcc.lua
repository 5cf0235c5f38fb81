-- TPC-C as far as its transactions and data go (specification 5.11), without keying and think times:
--   sysbench tpcc.lua --warehouses=2 ... prepare | run | cleanup
-- An event is one transaction of the mix: 45 % new order, 43 % payment, 4 % each order status, delivery, stock level.
-- 1 % of the new orders ask for an item that does not exist and roll back, as specified.
-- --procedures=on runs each transaction as one CALL of a stored procedure, with the same choices and the same end.
-- --items and --customers make it smaller than the specification says; --threads load the warehouses side by side.

sysbench.cmdline.options = {
   warehouses = {"Warehouses", 2},
   items = {"Items, and stock of each warehouse", 100000},
   customers = {"Customers of each of a warehouse's ten districts; as many orders at first", 3000},
   procedures = {"Transactions are stored procedures", false}
}

local DISTRICTS = 10

local TABLES = {
   [[warehouse (w_id SMALLINT NOT NULL PRIMARY KEY, w_name VARCHAR(10), w_street_1 VARCHAR(20), w_street_2 VARCHAR(20), w_city VARCHAR(20),
      w_state CHAR(2), w_zip CHAR(9), w_tax DECIMAL(4,4), w_ytd DECIMAL(12,2))]],
   [[district (d_w_id SMALLINT NOT NULL, d_id TINYINT NOT NULL, d_name VARCHAR(10), d_street_1 VARCHAR(20), d_street_2 VARCHAR(20),
      d_city VARCHAR(20), d_state CHAR(2), d_zip CHAR(9), d_tax DECIMAL(4,4), d_ytd DECIMAL(12,2), d_next_o_id INT,
      PRIMARY KEY (d_w_id, d_id))]],
   [[customer (c_w_id SMALLINT NOT NULL, c_d_id TINYINT NOT NULL, c_id INT NOT NULL, c_first VARCHAR(16), c_middle CHAR(2),
      c_last VARCHAR(16), c_street_1 VARCHAR(20), c_street_2 VARCHAR(20), c_city VARCHAR(20), c_state CHAR(2), c_zip CHAR(9),
      c_phone CHAR(16), c_since DATETIME, c_credit CHAR(2), c_credit_lim DECIMAL(12,2), c_discount DECIMAL(4,4),
      c_balance DECIMAL(12,2), c_ytd_payment DECIMAL(12,2), c_payment_cnt SMALLINT, c_delivery_cnt SMALLINT, c_data VARCHAR(500),
      PRIMARY KEY (c_w_id, c_d_id, c_id), KEY by_name (c_w_id, c_d_id, c_last, c_first))]],
   [[history (h_id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, h_c_id INT, h_c_d_id TINYINT, h_c_w_id SMALLINT, h_d_id TINYINT,
      h_w_id SMALLINT, h_date DATETIME, h_amount DECIMAL(6,2), h_data VARCHAR(24))]],
   [[orders (o_w_id SMALLINT NOT NULL, o_d_id TINYINT NOT NULL, o_id INT NOT NULL, o_c_id INT, o_entry_d DATETIME,
      o_carrier_id TINYINT, o_ol_cnt TINYINT, o_all_local TINYINT, PRIMARY KEY (o_w_id, o_d_id, o_id),
      KEY by_customer (o_w_id, o_d_id, o_c_id, o_id))]],
   [[new_order (no_w_id SMALLINT NOT NULL, no_d_id TINYINT NOT NULL, no_o_id INT NOT NULL, PRIMARY KEY (no_w_id, no_d_id, no_o_id))]],
   [[order_line (ol_w_id SMALLINT NOT NULL, ol_d_id TINYINT NOT NULL, ol_o_id INT NOT NULL, ol_number TINYINT NOT NULL, ol_i_id INT,
      ol_supply_w_id SMALLINT, ol_delivery_d DATETIME, ol_quantity TINYINT, ol_amount DECIMAL(6,2), ol_dist_info CHAR(24),
      PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number))]],
   [[item (i_id INT NOT NULL PRIMARY KEY, i_im_id INT, i_name VARCHAR(24), i_price DECIMAL(5,2), i_data VARCHAR(50))]],
   [[stock (s_w_id SMALLINT NOT NULL, s_i_id INT NOT NULL, s_quantity SMALLINT, s_dist_01 CHAR(24), s_dist_02 CHAR(24),
      s_dist_03 CHAR(24), s_dist_04 CHAR(24), s_dist_05 CHAR(24), s_dist_06 CHAR(24), s_dist_07 CHAR(24), s_dist_08 CHAR(24),
      s_dist_09 CHAR(24), s_dist_10 CHAR(24), s_ytd INT, s_order_cnt SMALLINT, s_remote_cnt SMALLINT, s_data VARCHAR(50),
      PRIMARY KEY (s_w_id, s_i_id))]]
}

-- The transactions as procedures. A customer is found by v_c or, if that is NULL, by v_last.
local CUSTOMER = [[
   IF v_c IS NULL THEN
      SELECT COUNT(*) INTO v_n FROM customer WHERE c_w_id = v_cw AND c_d_id = v_cd AND c_last = v_last;
      SET v_n = (v_n - 1) DIV 2;
      IF v_n >= 0 THEN
         SELECT c_id INTO v_c FROM customer WHERE c_w_id = v_cw AND c_d_id = v_cd AND c_last = v_last ORDER BY c_first LIMIT v_n, 1;
      END IF;
   END IF;]]

local PROCEDURES = {
   tpcc_new_order = [[(v_w SMALLINT, v_d TINYINT, v_c INT, v_count TINYINT, v_local TINYINT, v_wanted VARCHAR(1000))
   body: BEGIN
      DECLARE v_o, v_item, v_supply, v_quantity, v_have, v_number INT DEFAULT 1;
      DECLARE v_price DECIMAL(5,2); DECLARE v_tax, v_discount DECIMAL(4,4); DECLARE v_part VARCHAR(40);
      DECLARE v_last, v_credit VARCHAR(16); DECLARE v_name VARCHAR(24); DECLARE v_data VARCHAR(50); DECLARE v_info CHAR(24);
      START TRANSACTION;
      SELECT d_next_o_id, d_tax INTO v_o, v_tax FROM district WHERE d_w_id = v_w AND d_id = v_d FOR UPDATE;
      SELECT c_discount, c_last, c_credit, w_tax INTO v_discount, v_last, v_credit, v_tax FROM customer, warehouse
         WHERE w_id = v_w AND c_w_id = w_id AND c_d_id = v_d AND c_id = v_c;
      UPDATE district SET d_next_o_id = v_o + 1 WHERE d_w_id = v_w AND d_id = v_d;
      INSERT INTO orders VALUES (v_w, v_d, v_o, v_c, NOW(), NULL, v_count, v_local);
      INSERT INTO new_order VALUES (v_w, v_d, v_o);
      WHILE v_number <= v_count DO
         SET v_part = SUBSTRING_INDEX(SUBSTRING_INDEX(v_wanted, ';', v_number), ';', -1);
         SET v_item = SUBSTRING_INDEX(v_part, ',', 1), v_quantity = SUBSTRING_INDEX(v_part, ',', -1);
         SET v_supply = SUBSTRING_INDEX(SUBSTRING_INDEX(v_part, ',', 2), ',', -1), v_price = NULL;
         SELECT i_price, i_name, i_data INTO v_price, v_name, v_data FROM item WHERE i_id = v_item;
         IF v_price IS NULL THEN
            ROLLBACK;
            LEAVE body;
         END IF;
         SELECT s_quantity, s_data, CASE v_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
            WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END
            INTO v_have, v_data, v_info FROM stock WHERE s_w_id = v_supply AND s_i_id = v_item FOR UPDATE;
         SET v_have = v_have - v_quantity;
         IF v_have < 10 THEN
            SET v_have = v_have + 91;
         END IF;
         UPDATE stock SET s_quantity = v_have, s_ytd = s_ytd + v_quantity, s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + IF(v_supply = v_w, 0, 1) WHERE s_w_id = v_supply AND s_i_id = v_item;
         INSERT INTO order_line VALUES (v_w, v_d, v_o, v_number, v_item, v_supply, NULL, v_quantity, v_quantity * v_price, v_info);
         SET v_number = v_number + 1;
      END WHILE;
      COMMIT;
   END]],
   tpcc_payment = [[(v_w SMALLINT, v_d TINYINT, v_cw SMALLINT, v_cd TINYINT, v_amount DECIMAL(6,2), v_c INT, v_last VARCHAR(16))
   body: BEGIN
      DECLARE v_n INT; DECLARE v_w_name, v_d_name VARCHAR(10); DECLARE v_credit CHAR(2);
      START TRANSACTION;
      UPDATE warehouse SET w_ytd = w_ytd + v_amount WHERE w_id = v_w;
      UPDATE district SET d_ytd = d_ytd + v_amount WHERE d_w_id = v_w AND d_id = v_d;
      SELECT w_name INTO v_w_name FROM warehouse WHERE w_id = v_w;
      SELECT d_name INTO v_d_name FROM district WHERE d_w_id = v_w AND d_id = v_d;]] .. CUSTOMER .. [[
      IF v_c IS NULL THEN
         ROLLBACK;
         LEAVE body;
      END IF;
      SELECT c_credit INTO v_credit FROM customer WHERE c_w_id = v_cw AND c_d_id = v_cd AND c_id = v_c FOR UPDATE;
      UPDATE customer SET c_balance = c_balance - v_amount, c_ytd_payment = c_ytd_payment + v_amount, c_payment_cnt = c_payment_cnt + 1,
         c_data = IF(v_credit = 'BC', LEFT(CONCAT(CONCAT_WS(' ', v_c, v_cd, v_cw, v_d, v_w, v_amount), ' | ', c_data), 500), c_data)
         WHERE c_w_id = v_cw AND c_d_id = v_cd AND c_id = v_c;
      INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
         VALUES (v_c, v_cd, v_cw, v_d, v_w, NOW(), v_amount, CONCAT(v_w_name, '    ', v_d_name));
      COMMIT;
   END]],
   tpcc_order_status = [[(v_cw SMALLINT, v_cd TINYINT, v_c INT, v_last VARCHAR(16))
   BEGIN
      DECLARE v_n, v_o, v_carrier, v_item, v_supply, v_quantity INT; DECLARE v_entry, v_delivery DATETIME; DECLARE v_amount DECIMAL(6,2);
      DECLARE v_balance DECIMAL(12,2); DECLARE v_done INT DEFAULT 0;
      DECLARE lines_of CURSOR FOR SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
         WHERE ol_w_id = v_cw AND ol_d_id = v_cd AND ol_o_id = v_o;
      DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_done = 1;
      START TRANSACTION;]] .. CUSTOMER .. [[
      SELECT c_balance INTO v_balance FROM customer WHERE c_w_id = v_cw AND c_d_id = v_cd AND c_id = v_c;
      SELECT o_id, o_carrier_id, o_entry_d INTO v_o, v_carrier, v_entry FROM orders WHERE o_w_id = v_cw AND o_d_id = v_cd AND o_c_id = v_c
         ORDER BY o_id DESC LIMIT 1;
      SET v_done = 0;
      OPEN lines_of;
      WHILE NOT v_done DO
         FETCH lines_of INTO v_item, v_supply, v_quantity, v_amount, v_delivery;
      END WHILE;
      CLOSE lines_of;
      COMMIT;
   END]],
   tpcc_delivery = [[(v_w SMALLINT, v_carrier TINYINT)
   BEGIN
      DECLARE v_d INT DEFAULT 1; DECLARE v_o, v_c INT; DECLARE v_total DECIMAL(12,2);
      START TRANSACTION;
      WHILE v_d <= 10 DO
         SET v_o = NULL;
         SELECT no_o_id INTO v_o FROM new_order WHERE no_w_id = v_w AND no_d_id = v_d ORDER BY no_o_id LIMIT 1 FOR UPDATE;
         IF v_o IS NOT NULL THEN
            DELETE FROM new_order WHERE no_w_id = v_w AND no_d_id = v_d AND no_o_id = v_o;
            SELECT o_c_id INTO v_c FROM orders WHERE o_w_id = v_w AND o_d_id = v_d AND o_id = v_o;
            UPDATE orders SET o_carrier_id = v_carrier WHERE o_w_id = v_w AND o_d_id = v_d AND o_id = v_o;
            UPDATE order_line SET ol_delivery_d = NOW() WHERE ol_w_id = v_w AND ol_d_id = v_d AND ol_o_id = v_o;
            SELECT SUM(ol_amount) INTO v_total FROM order_line WHERE ol_w_id = v_w AND ol_d_id = v_d AND ol_o_id = v_o;
            UPDATE customer SET c_balance = c_balance + v_total, c_delivery_cnt = c_delivery_cnt + 1
               WHERE c_w_id = v_w AND c_d_id = v_d AND c_id = v_c;
         END IF;
         SET v_d = v_d + 1;
      END WHILE;
      COMMIT;
   END]],
   tpcc_stock_level = [[(v_w SMALLINT, v_d TINYINT, v_least INT)
   BEGIN
      DECLARE v_o, v_low INT;
      START TRANSACTION;
      SELECT d_next_o_id INTO v_o FROM district WHERE d_w_id = v_w AND d_id = v_d;
      SELECT COUNT(DISTINCT s_i_id) INTO v_low FROM order_line, stock WHERE ol_w_id = v_w AND ol_d_id = v_d AND ol_o_id < v_o
         AND ol_o_id >= v_o - 20 AND s_w_id = v_w AND s_i_id = ol_i_id AND s_quantity < v_least;
      COMMIT;
   END]]
}

local SYLLABLES = {"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"}

local rand = sysbench.rand

local function between(a, b) return rand.uniform(a, b) end

local function letters(a, b) return rand.string(string.rep("@", between(a, b or a))) end

local function last_name(n)
   return SYLLABLES[math.floor(n / 100) % 10 + 1] .. SYLLABLES[math.floor(n / 10) % 10 + 1] .. SYLLABLES[n % 10 + 1]
end

-- The specification's NURand; its constants C are fixed, within the difference that 2.1.6.1 asks for.
local function bit_or(a, b)
   local out, bit = 0, 1
   while a > 0 or b > 0 do
      if a % 2 == 1 or b % 2 == 1 then out = out + bit end
      a, b, bit = math.floor(a / 2), math.floor(b / 2), bit * 2
   end
   return out
end

local function uneven(a, c, low, high)
   return (bit_or(between(0, a), between(low, high)) + c) % (high - low + 1) + low
end

local function a_customer() return uneven(1023, 259, 1, sysbench.opt.customers) end
local function an_item() return uneven(8191, 7911, 1, sysbench.opt.items) end
local function a_name() return last_name(uneven(255, 223, 0, math.min(999, sysbench.opt.customers - 1))) end

local function address() return string.format("'%s','%s','%s','%s','%09d'", letters(10, 20), letters(10, 20), letters(10, 20), letters(2), between(1, 999999999)) end

local function load_rows(con, name, rows)
   con:bulk_insert_init("INSERT INTO " .. name .. " VALUES")
   for row in rows do con:bulk_insert_next("(" .. row .. ")") end
   con:bulk_insert_done()
end

-- An iterator over f(1) .. f(n).
local function each(n, f)
   local i = 0
   return function()
      i = i + 1
      if i <= n then return f(i) end
   end
end

local function original(text) return between(1, 10) == 1 and "ORIGINAL" .. text or text end

local function load_items(con)
   load_rows(con, "item", each(sysbench.opt.items, function(i)
      return string.format("%d,%d,'%s',%.2f,'%s'", i, between(1, 10000), letters(14, 24), between(100, 10000) / 100, original(letters(26, 42)))
   end))
end

local function load_warehouse(con, w)
   local n = sysbench.opt.customers
   load_rows(con, "warehouse", each(1, function()
      return string.format("%d,'%s',%s,%.4f,%d", w, letters(6, 10), address(), between(0, 2000) / 10000, DISTRICTS * n * 10)
   end))
   load_rows(con, "stock", each(sysbench.opt.items, function(i)
      local places = {}
      for d = 1, 10 do places[d] = "'" .. letters(24) .. "'" end
      return string.format("%d,%d,%d,%s,0,0,0,'%s'", w, i, between(10, 100), table.concat(places, ","), original(letters(26, 42)))
   end))
   for d = 1, DISTRICTS do
      load_rows(con, "district", each(1, function()
         return string.format("%d,%d,'%s',%s,%.4f,%d,%d", w, d, letters(6, 10), address(), between(0, 2000) / 10000, n * 10, n + 1)
      end))
      load_rows(con, "customer", each(n, function(c)
         local name = c <= 1000 and last_name(c - 1) or a_name()
         return string.format("%d,%d,%d,'%s','OE','%s',%s,'%s',NOW(),'%s',50000,%.4f,-10,10,1,0,'%s'", w, d, c, letters(8, 16), name, address(),
            rand.string("################"), between(1, 10) == 1 and "BC" or "GC", between(0, 5000) / 10000, letters(300, 500))
      end))
      load_rows(con, "history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)", each(n, function(c)
         return string.format("%d,%d,%d,%d,%d,NOW(),10,'%s'", c, d, w, d, w, letters(12, 24))
      end))
      -- The customers in random order; the last 30 % of the orders are not delivered yet.
      local order, lines, delivered = {}, {}, math.floor(n * 7 / 10)
      for i = 1, n do order[i] = i end
      for i = n, 2, -1 do
         local j = between(1, i)
         order[i], order[j] = order[j], order[i]
      end
      load_rows(con, "orders", each(n, function(o)
         lines[o] = between(5, 15)
         return string.format("%d,%d,%d,%d,NOW(),%s,%d,1", w, d, o, order[o], o <= delivered and between(1, 10) or "NULL", lines[o])
      end))
      load_rows(con, "new_order", each(n - delivered, function(i) return string.format("%d,%d,%d", w, d, delivered + i) end))
      local o, line = 1, 0
      load_rows(con, "order_line", function()
         line = line + 1
         if line > lines[o] then o, line = o + 1, 1 end
         if o > n then return nil end
         local done = o <= delivered
         return string.format("%d,%d,%d,%d,%d,%d,%s,5,%s,'%s'", w, d, o, line, between(1, sysbench.opt.items), w, done and "NOW()" or "NULL",
            done and "0" or string.format("%.2f", between(1, 999999) / 100), letters(24))
      end)
   end
end

function cmd_prepare()
   local con = sysbench.sql.driver():connect()
   for _, text in ipairs(TABLES) do con:query("CREATE TABLE " .. text) end
   for name, text in pairs(PROCEDURES) do
      if sysbench.opt.procedures then con:query("CREATE PROCEDURE " .. name .. text) end
   end
   load_items(con)
   for w = 1, sysbench.opt.warehouses do load_warehouse(con, w) end
end

function cmd_cleanup()
   local con = sysbench.sql.driver():connect()
   for _, text in ipairs(TABLES) do con:query("DROP TABLE IF EXISTS " .. string.match(text, "^%S+")) end
   for name in pairs(PROCEDURES) do con:query("DROP PROCEDURE IF EXISTS " .. name) end
end

sysbench.cmdline.commands = {prepare = {cmd_prepare}, cleanup = {cmd_cleanup}}

function thread_init()
   drv = sysbench.sql.driver()
   con = drv:connect()
   home = sysbench.tid % sysbench.opt.warehouses + 1
end

function thread_done() con:disconnect() end

local function row(text, ...)
   local result = con:query(string.format(text, ...))
   local values
   if result.nrows > 0 then
      local found = result:fetch_row()
      values = {}
      for i = 1, result.nfields do values[i] = found[i] end
   end
   result:free()
   return values
end

local function rows(text, ...)
   local result, all = con:query(string.format(text, ...)), {}
   for i = 1, result.nrows do
      local found, values = result:fetch_row(), {}
      for j = 1, result.nfields do values[j] = found[j] end
      all[i] = values
   end
   result:free()
   return all
end

local function run(text, ...) con:query(string.format(text, ...)) end

local function other_warehouse()
   if sysbench.opt.warehouses == 1 then return home end
   local w = between(1, sysbench.opt.warehouses - 1)
   return w < home and w or w + 1
end

local function new_order()
   local w, d, c, count = home, between(1, DISTRICTS), a_customer(), between(5, 15)
   local rollback, wanted, all_local = between(1, 100) == 1, {}, 1
   for i = 1, count do
      local supply = between(1, 100) == 1 and other_warehouse() or w
      if supply ~= w then all_local = 0 end
      wanted[i] = {item = an_item(), supply = supply, quantity = between(1, 10)}
   end
   if rollback then wanted[count].item = sysbench.opt.items + 1 end
   -- Always in one order of stock rows, so that two of these never wait for each other.
   table.sort(wanted, function(a, b) return a.supply < b.supply or a.supply == b.supply and a.item < b.item end)
   if sysbench.opt.procedures then
      local list = {}
      for i, x in ipairs(wanted) do list[i] = string.format("%d,%d,%d", x.item, x.supply, x.quantity) end
      run("CALL tpcc_new_order(%d, %d, %d, %d, %d, '%s')", w, d, c, count, all_local, table.concat(list, ";"))
      return
   end
   run("BEGIN")
   -- First what others change: a snapshot taken before would be one that this transaction may not write in.
   local district = row("SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = %d AND d_id = %d FOR UPDATE", w, d)
   local o = tonumber(district[1])
   row("SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse WHERE w_id = %d AND c_w_id = w_id AND c_d_id = %d AND c_id = %d", w, d, c)
   run("UPDATE district SET d_next_o_id = %d WHERE d_w_id = %d AND d_id = %d", o + 1, w, d)
   run("INSERT INTO orders VALUES (%d, %d, %d, %d, NOW(), NULL, %d, %d)", w, d, o, c, count, all_local)
   run("INSERT INTO new_order VALUES (%d, %d, %d)", w, d, o)
   for number, x in ipairs(wanted) do
      local item = row("SELECT i_price, i_name, i_data FROM item WHERE i_id = %d", x.item)
      if not item then
         run("ROLLBACK")
         return
      end
      local stock = row("SELECT s_quantity, s_data, s_dist_%02d FROM stock WHERE s_w_id = %d AND s_i_id = %d FOR UPDATE", d, x.supply, x.item)
      local quantity = tonumber(stock[1]) - x.quantity
      if quantity < 10 then quantity = quantity + 91 end
      run("UPDATE stock SET s_quantity = %d, s_ytd = s_ytd + %d, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + %d WHERE s_w_id = %d AND s_i_id = %d",
         quantity, x.quantity, x.supply == w and 0 or 1, x.supply, x.item)
      run("INSERT INTO order_line VALUES (%d, %d, %d, %d, %d, %d, NULL, %d, %.2f, '%s')", w, d, o, number, x.item, x.supply, x.quantity,
         x.quantity * tonumber(item[1]), stock[3])
   end
   run("COMMIT")
end

-- A customer's number (40 %) or name.
local function wanted_customer()
   if between(1, 100) > 60 then return a_customer(), nil end
   return nil, a_name()
end

-- The customer of that number, or the middle one of that name.
local function find_customer(w, d, number, name, columns, lock)
   if number then return row("SELECT %s FROM customer WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d%s", columns, w, d, number, lock) end
   local found = rows("SELECT %s FROM customer WHERE c_w_id = %d AND c_d_id = %d AND c_last = '%s' ORDER BY c_first%s", columns, w, d, name, lock)
   return found[math.ceil(#found / 2)]
end

-- The same as arguments of a procedure.
local function customer_arguments(number, name)
   if number then return string.format("%d, NULL", number) end
   return string.format("NULL, '%s'", name)
end

local function payment()
   local w, d, amount = home, between(1, DISTRICTS), between(100, 500000) / 100
   local c_w, c_d = w, d
   if between(1, 100) > 85 then c_w, c_d = other_warehouse(), between(1, DISTRICTS) end
   local number, name = wanted_customer()
   if sysbench.opt.procedures then
      run("CALL tpcc_payment(%d, %d, %d, %d, %.2f, %s)", w, d, c_w, c_d, amount, customer_arguments(number, name))
      return
   end
   run("BEGIN")
   run("UPDATE warehouse SET w_ytd = w_ytd + %.2f WHERE w_id = %d", amount, w)
   run("UPDATE district SET d_ytd = d_ytd + %.2f WHERE d_w_id = %d AND d_id = %d", amount, w, d)
   local warehouse = row("SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = %d", w)
   local district = row("SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district WHERE d_w_id = %d AND d_id = %d", w, d)
   local c = find_customer(c_w, c_d, number, name, "c_id, c_credit, c_data, c_first, c_last, c_balance", " FOR UPDATE")
   if not c then
      run("ROLLBACK")
      return
   end
   local data = c[2] == "BC" and string.format(", c_data = LEFT(CONCAT('%s %d %d %d %d %.2f | ', c_data), 500)", c[1], c_d, c_w, d, w, amount) or ""
   run("UPDATE customer SET c_balance = c_balance - %.2f, c_ytd_payment = c_ytd_payment + %.2f, c_payment_cnt = c_payment_cnt + 1%s WHERE c_w_id = %d AND c_d_id = %d AND c_id = %s",
      amount, amount, data, c_w, c_d, c[1])
   run("INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) VALUES (%s, %d, %d, %d, %d, NOW(), %.2f, '%s    %s')",
      c[1], c_d, c_w, d, w, amount, warehouse[1], district[1])
   run("COMMIT")
end

local function order_status()
   local w, d = home, between(1, DISTRICTS)
   local number, name = wanted_customer()
   if sysbench.opt.procedures then
      run("CALL tpcc_order_status(%d, %d, %s)", w, d, customer_arguments(number, name))
      return
   end
   run("BEGIN")
   local c = find_customer(w, d, number, name, "c_id, c_balance, c_first, c_middle, c_last", "")
   if c then
      local o = row("SELECT o_id, o_carrier_id, o_entry_d FROM orders WHERE o_w_id = %d AND o_d_id = %d AND o_c_id = %s ORDER BY o_id DESC LIMIT 1", w, d, c[1])
      if o then
         rows("SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %s", w, d, o[1])
      end
   end
   run("COMMIT")
end

local function delivery()
   local w, carrier = home, between(1, 10)
   if sysbench.opt.procedures then
      run("CALL tpcc_delivery(%d, %d)", w, carrier)
      return
   end
   run("BEGIN")
   for d = 1, DISTRICTS do
      local first = row("SELECT no_o_id FROM new_order WHERE no_w_id = %d AND no_d_id = %d ORDER BY no_o_id LIMIT 1 FOR UPDATE", w, d)
      if first then
         local o = first[1]
         run("DELETE FROM new_order WHERE no_w_id = %d AND no_d_id = %d AND no_o_id = %s", w, d, o)
         local c = row("SELECT o_c_id FROM orders WHERE o_w_id = %d AND o_d_id = %d AND o_id = %s", w, d, o)
         run("UPDATE orders SET o_carrier_id = %d WHERE o_w_id = %d AND o_d_id = %d AND o_id = %s", carrier, w, d, o)
         run("UPDATE order_line SET ol_delivery_d = NOW() WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %s", w, d, o)
         local total = row("SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %s", w, d, o)
         run("UPDATE customer SET c_balance = c_balance + %s, c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = %d AND c_d_id = %d AND c_id = %s", total[1], w, d, c[1])
      end
   end
   run("COMMIT")
end

local function stock_level()
   local w, d, least = home, sysbench.tid % DISTRICTS + 1, between(10, 20)
   if sysbench.opt.procedures then
      run("CALL tpcc_stock_level(%d, %d, %d)", w, d, least)
      return
   end
   run("BEGIN")
   local o = tonumber(row("SELECT d_next_o_id FROM district WHERE d_w_id = %d AND d_id = %d", w, d)[1])
   row("SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id < %d AND ol_o_id >= %d AND s_w_id = %d AND s_i_id = ol_i_id AND s_quantity < %d",
      w, d, o, o - 20, w, least)
   run("COMMIT")
end

local function choose()
   local n = between(1, 100)
   if n <= 45 then return new_order end
   if n <= 88 then return payment end
   if n <= 92 then return order_status end
   if n <= 96 then return delivery end
   return stock_level
end

function event()
   local ok, err = pcall(choose())
   if not ok then
      -- A lock wait that was given up leaves the transaction open; a new event must not commit it.
      if type(err) == "table" and err.errcode == sysbench.error.RESTART_EVENT then con:query("ROLLBACK") end
      error(err, 0)
   end
end
