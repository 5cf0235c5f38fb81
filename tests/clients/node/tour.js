// A tour of mysql2 and Sequelize on one database: node tour.js PORT DATABASE; prints what it saw as one JSON array.
'use strict';
const mysql = require('mysql2/promise');
const { Sequelize, DataTypes, Op } = require('sequelize');

const [port, database] = [Number(process.argv[2]), process.argv[3]];
const seen = [];
const note = (what, value) => seen.push([what, value]);
const failure = async (what, promise) => {
  try {
    await promise;
    note(what, 'no error');
  } catch (e) {
    const own = e.original || e;
    note(what, [e.name, own.errno, own.sqlState]);
  }
};

async function driver() {
  const pool = mysql.createPool({ host: '127.0.0.1', port, user: 'root', database, connectionLimit: 4, timezone: 'Z', decimalNumbers: false });
  await pool.query('CREATE TABLE plain (id INT AUTO_INCREMENT PRIMARY KEY, n BIGINT UNSIGNED, d DECIMAL(20,6), f DOUBLE, s VARCHAR(80), j JSON, b VARBINARY(20), t DATETIME(3), y DATE, e ENUM(\'a\',\'b\'), flag BIT(1))');
  const [done] = await pool.execute('INSERT INTO plain (n, d, f, s, j, b, t, y, e, flag) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)', [
    '18446744073709551615', '12345.678901', 1.5, 'žluť 🐎', JSON.stringify({ a: [1, 2] }), Buffer.from([0, 1, 255]), new Date(Date.UTC(2024, 1, 29, 1, 2, 3, 456)), '2024-02-29', 'b', 1,
  ]);
  note('inserted', [done.affectedRows, done.insertId]);
  await pool.query('INSERT INTO plain (n, s) VALUES ?', [[[1, 'one'], [2, "it's"], [3, null]]]);
  for (const ask of ['query', 'execute']) {
    const [rows, fields] = await pool[ask]('SELECT * FROM plain WHERE id <= ? ORDER BY id', [4]);
    note(ask, rows);
    note(ask + ' fields', fields.map((f) => [f.name, f.columnType, f.columnLength, f.flags]));
  }
  const [named] = await pool.query({ sql: 'SELECT p.id, q.id FROM plain p JOIN plain q ON q.id = p.id + 1 ORDER BY 1', nestTables: true });
  note('nested', named);
  await Promise.all([...Array(8).keys()].map((i) => pool.execute('INSERT INTO plain (n, s) VALUES (?, ?)', [100 + i, 'at once'])));
  note('at once', (await pool.query('SELECT COUNT(*) AS n, SUM(n) AS s FROM plain WHERE s = ?', ['at once']))[0]);
  const one = await pool.getConnection();
  await one.beginTransaction();
  await one.query('DELETE FROM plain');
  await one.rollback();
  note('rolled back', (await one.query('SELECT COUNT(*) AS n FROM plain'))[0]);
  const names = [];
  await new Promise((resolve, reject) => {
    one.connection.query('SELECT s FROM plain ORDER BY id').stream().on('data', (r) => names.push(r.s)).on('end', resolve).on('error', reject);
  });
  note('streamed', names);
  one.release();
  await failure('duplicate', pool.query('INSERT INTO plain (id) VALUES (1)'));
  await failure('syntax', pool.query('SELEC 1'));
  await failure('no table', pool.execute('SELECT * FROM nowhere'));
  const many = await mysql.createConnection({ host: '127.0.0.1', port, user: 'root', database, multipleStatements: true });
  note('many statements', (await many.query('SELECT 1 AS a; UPDATE plain SET n = 5 WHERE id = 2; SELECT n FROM plain WHERE id = 2'))[0].map((r) => (Array.isArray(r) ? r : [r.affectedRows, r.info])));
  await many.ping();
  await many.changeUser({ database });
  await many.end();
  await pool.query('DROP TABLE plain');
  await pool.end();
}

async function mapper() {
  const statements = [];
  const db = new Sequelize(database, 'root', '', { host: '127.0.0.1', port, dialect: 'mysql', logging: (s) => statements.push(s), timezone: '+00:00' });
  const Team = db.define('Team', { name: { type: DataTypes.STRING(40), unique: true, allowNull: false } });
  const Player = db.define(
    'Player',
    {
      name: { type: DataTypes.STRING, allowNull: false },
      born: DataTypes.DATEONLY,
      goals: { type: DataTypes.INTEGER.UNSIGNED, defaultValue: 0 },
      rate: DataTypes.DECIMAL(8, 3),
      position: DataTypes.ENUM('goal', 'back', 'front'),
      extra: DataTypes.JSON,
      active: { type: DataTypes.BOOLEAN, defaultValue: true },
      token: { type: DataTypes.UUID },
      bio: DataTypes.TEXT('medium'),
      seen: DataTypes.DATE(6),
    },
    { indexes: [{ fields: ['goals', 'name'] }], paranoid: true },
  );
  const Prize = db.define('Prize', { title: DataTypes.STRING(30) }, { timestamps: false });
  Team.hasMany(Player, { onDelete: 'CASCADE' });
  Player.belongsTo(Team);
  Player.belongsToMany(Prize, { through: 'PlayerPrizes', timestamps: false });
  Prize.belongsToMany(Player, { through: 'PlayerPrizes', timestamps: false });
  await db.sync({ force: true });
  const describe = async () => {
    for (const table of ['Teams', 'Players', 'Prizes', 'PlayerPrizes']) {
      note('described ' + table, await db.getQueryInterface().describeTable(table));
      const indexes = await db.getQueryInterface().showIndex(table);
      note('indexes of ' + table, indexes.map((i) => [i.name, i.unique, i.primary, i.fields]));
      note('keys of ' + table, (await db.getQueryInterface().getForeignKeyReferencesForTable(table)).map((k) => [k.constraintName, k.columnName, k.referencedTableName, k.referencedColumnName]));
    }
  };
  await describe();
  const [red, blue] = await Team.bulkCreate([{ name: 'Red' }, { name: 'Blue' }]);
  const prizes = await Prize.bulkCreate([{ title: 'cup' }, { title: 'medal' }]);
  for (let i = 0; i < 12; i++) {
    const p = await Player.create({
      name: 'Player ' + i, born: `199${i % 10}-0${1 + (i % 9)}-11`, goals: i * 2, rate: i / 8, position: ['goal', 'back', 'front'][i % 3], extra: { i, list: [i] },
      token: `00000000-0000-4000-8000-0000000000${10 + i}`, TeamId: i % 2 ? red.id : blue.id, seen: new Date(Date.UTC(2024, 0, 1 + i)),
    });
    if (i % 3) await p.addPrize(prizes[i % 2]);
  }
  const plain = (rows) => JSON.parse(JSON.stringify(rows, (k, v) => (['createdAt', 'updatedAt', 'deletedAt'].includes(k) ? Boolean(v) : v)));
  note('included', plain(await Team.findAll({ include: [{ model: Player, where: { goals: { [Op.gt]: 8 } }, include: [Prize] }], order: [['name', 'ASC'], [Player, 'id', 'ASC'], [Player, Prize, 'id', 'ASC']] })));
  note('page', plain(await Player.findAndCountAll({ where: { [Op.or]: [{ name: { [Op.like]: '%1%' } }, { position: 'back' }] }, order: [['goals', 'DESC']], limit: 3, offset: 1 })));
  note('limit with include', plain(await Player.findAll({ include: [Prize, Team], limit: 4, order: [['id', 'DESC']] })));
  note('grouped', plain(await Player.findAll({ attributes: ['position', [db.fn('COUNT', db.col('id')), 'n'], [db.fn('AVG', db.col('goals')), 'mean']], group: ['position'], having: db.where(db.fn('COUNT', db.col('id')), Op.gte, 2), order: ['position'], raw: true })));
  note('json', await Player.count({ where: { 'extra.i': { [Op.gte]: 6 } } }));
  note('between', await Player.sum('goals', { where: { born: { [Op.between]: ['1992-01-01', '1996-12-31'] } } }));
  note('updated', await Player.update({ active: false }, { where: { goals: { [Op.lt]: 6 } } }));
  note('incremented', plain(await (await Player.findOne({ where: { name: 'Player 3' } })).increment('goals', { by: 5 }).then((p) => p.reload())).goals);
  note('upsert', (await Team.upsert({ name: 'Red' }))[1]);
  note('found or made', (await Team.findOrCreate({ where: { name: 'Green' } }))[1]);
  await failure('duplicate', Team.create({ name: 'Red' }));
  await failure('no parent', Player.create({ name: 'x', TeamId: 999 }));
  await failure('too long', Prize.create({ title: 'x'.repeat(50) }));
  await failure('not in the enum', Player.create({ name: 'x', position: 'bench' }));
  await db.transaction(async (t) => {
    const p = await Player.findOne({ where: { name: 'Player 4' }, lock: t.LOCK.UPDATE, transaction: t });
    await p.destroy({ transaction: t });
  });
  note('paranoid', [await Player.count(), await Player.count({ paranoid: false })]);
  await failure('rolled back', db.transaction(async (t) => { await Team.destroy({ where: {}, transaction: t }); throw new RangeError('on purpose'); }));
  note('teams', await Team.count());
  await blue.destroy();
  note('cascade', await Player.count({ paranoid: false }));
  const q = db.getQueryInterface();
  await q.addColumn('Teams', 'city', { type: DataTypes.STRING(20), allowNull: false, defaultValue: 'Brno', after: 'name' });
  await q.changeColumn('Teams', 'name', { type: DataTypes.STRING(80), allowNull: false });
  await q.renameColumn('Teams', 'city', 'town');
  await q.addIndex('Teams', ['town'], { name: 'teams_town' });
  await q.addConstraint('Players', { fields: ['token'], type: 'unique', name: 'players_token' });
  await describe();
  await q.removeConstraint('Players', 'players_token');
  await q.removeIndex('Teams', 'teams_town');
  await q.removeColumn('Teams', 'town');
  note('tables', (await q.showAllTables()).sort());
  await db.drop();
  note('left', await q.showAllTables());
  await db.close();
}

(async () => {
  await driver();
  await mapper();
  console.log(JSON.stringify(seen, (k, v) => (typeof v === 'bigint' ? String(v) : v)));
})().catch((e) => {
  console.error(e);
  process.exit(1);
});
