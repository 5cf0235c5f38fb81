"""SQLAlchemy: tables created and reflected, sessions, relations, queries; and Alembic's migrations."""

from __future__ import annotations

import datetime
import decimal
import enum
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy.dialects import mysql
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, aliased, joinedload, mapped_column, relationship, selectinload


class Base(DeclarativeBase):
    pass


class Level(enum.Enum):
    low = 1
    high = 2


tagging = sa.Table(
    "tagging",
    Base.metadata,
    sa.Column("article_id", sa.ForeignKey("article.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("tag_id", sa.ForeignKey("tag.id"), primary_key=True),
)


class Author(Base):
    __tablename__ = "author"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(60), unique=True)
    email: Mapped[str | None] = mapped_column(sa.String(120), index=True)
    born: Mapped[datetime.date | None]
    level: Mapped[Level] = mapped_column(sa.Enum(Level), default=Level.low)
    balance: Mapped[decimal.Decimal] = mapped_column(sa.Numeric(12, 2), default=0)
    settings: Mapped[dict | None] = mapped_column(sa.JSON)
    articles: Mapped[list[Article]] = relationship(back_populates="author", cascade="all, delete-orphan", order_by="Article.id")


class Article(Base):
    __tablename__ = "article"
    __table_args__ = (
        sa.Index("ix_article_author_title", "author_id", "title"),
        sa.CheckConstraint("words >= 0", name="words_positive"),
        {"mysql_engine": "InnoDB", "mysql_charset": "utf8mb4", "comment": "what authors write"},
    )
    id: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True)
    author_id: Mapped[int] = mapped_column(sa.ForeignKey("author.id", name="fk_article_author"))
    title: Mapped[str] = mapped_column(sa.String(200))
    body: Mapped[str | None] = mapped_column(mysql.LONGTEXT)
    words: Mapped[int] = mapped_column(default=0, server_default="0", comment="counted")
    rating: Mapped[float | None] = mapped_column(sa.Double)
    published: Mapped[bool] = mapped_column(default=False)
    created: Mapped[datetime.datetime] = mapped_column(mysql.DATETIME(fsp=6), server_default=sa.text("CURRENT_TIMESTAMP(6)"))
    picture: Mapped[bytes | None] = mapped_column(sa.LargeBinary(1000))
    author: Mapped[Author] = relationship(back_populates="articles")
    tags: Mapped[list[Tag]] = relationship(secondary=tagging, back_populates="articles", order_by="Tag.name")


class Tag(Base):
    __tablename__ = "tag"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(30, collation="utf8mb4_bin"), unique=True)
    articles: Mapped[list[Article]] = relationship(secondary=tagging, back_populates="tags")


def tour(url: str) -> list[Any]:
    """Creates the schema, reflects it, and goes through a session; every answer in order."""
    engine = sa.create_engine(url, echo=False)
    seen: list[Any] = []
    Base.metadata.drop_all(engine)
    Base.metadata.create_all(engine)
    seen.append(("reflected", reflect(engine)))
    seen.append(("differences", [str(d) for d in compare_metadata(MigrationContext.configure(engine.connect()), Base.metadata)]))
    seen.append(("session", session(engine)))
    seen.append(("core", core(engine)))
    Base.metadata.drop_all(engine)
    seen.append(("left", sa.inspect(engine).get_table_names()))
    engine.dispose()
    return seen


def reflect(engine: sa.Engine) -> list[Any]:
    seen: list[Any] = []
    inspector = sa.inspect(engine)
    for table in sorted(inspector.get_table_names()):
        columns = [{k: str(v) for k, v in c.items()} for c in inspector.get_columns(table)]
        seen.append((
            table, columns, inspector.get_pk_constraint(table), inspector.get_foreign_keys(table), inspector.get_indexes(table),
            inspector.get_unique_constraints(table), inspector.get_check_constraints(table), inspector.get_table_comment(table),
            {k: v for k, v in inspector.get_table_options(table).items() if "auto" not in k},
        ))  # fmt: skip
    copy = sa.MetaData()
    copy.reflect(engine)
    seen.append(sorted((t.name, sorted(c.name for c in t.columns), len(t.foreign_keys)) for t in copy.tables.values()))
    return seen


def session(engine: sa.Engine) -> list[Any]:
    seen: list[Any] = []
    with Session(engine) as s:
        tags = [Tag(name=n) for n in ("db", "rust", "Rust")]
        ada = Author(name="Ada", email="ada@example.org", born=datetime.date(1815, 12, 10), level=Level.high, settings={"a": [1, None]})
        bob = Author(name="Bob", balance=decimal.Decimal("12.50"))
        s.add_all([ada, bob, *tags])
        for i in range(20):
            owner = ada if i % 3 else bob
            owner.articles.append(Article(title=f"Article {i:02}", words=i * 10, rating=i / 7, published=i % 2 == 0, tags=tags[: i % 4]))
        s.commit()
        seen.append([(a.id, a.name, a.level, a.balance, a.settings) for a in s.scalars(sa.select(Author).order_by(Author.id))])
        seen.append([(a.title, [t.name for t in a.tags]) for a in s.scalars(sa.select(Article).options(selectinload(Article.tags)).order_by(Article.id))])
        seen.append([(a.name, len(a.articles)) for a in s.scalars(sa.select(Author).options(joinedload(Author.articles)).order_by(Author.name)).unique()])
        per_author = (
            sa.select(Author.name, sa.func.count(Article.id), sa.func.sum(Article.words), sa.func.avg(Article.words))
            .join(Author.articles).group_by(Author.id).having(sa.func.count(Article.id) > 2).order_by(Author.name)
        )  # fmt: skip
        seen.append([tuple(r) for r in s.execute(per_author)])
        seen.append(s.scalars(sa.select(Article.title).where(Article.tags.any(Tag.name == "Rust")).order_by(Article.title)).all())
        seen.append(s.scalars(sa.select(Author.name).where(~Author.articles.any(Article.words > 185)).order_by(Author.name)).all())
        other = aliased(Article)
        longest = sa.select(sa.func.max(other.words)).where(other.author_id == Author.id).scalar_subquery()
        seen.append([tuple(r) for r in s.execute(sa.select(Author.name, longest.label("longest")).order_by(sa.desc("longest")))])
        page = sa.select(Article.title).where(Article.title.ilike("article 1%"), Article.published.is_(True)).order_by(Article.rating.desc())
        seen.append(s.scalars(page.limit(3).offset(1)).all())
        done = s.execute(sa.update(Article).where(Article.words < 50).values(words=Article.words + 1, body="short"))
        seen.append(("updated", done.rowcount))
        ada.articles.pop()
        bob.email = "bob@example.org"
        s.flush()
        nested = s.begin_nested()
        s.add(Tag(name="db"))
        try:
            s.flush()
        except sa.exc.IntegrityError as e:
            seen.append(("duplicate", e.orig.args[0]))
            nested.rollback()
        s.commit()
        s.delete(bob)
        s.commit()
        seen.append(s.scalar(sa.select(sa.func.count()).select_from(Article)))
        seen.append(s.scalar(sa.select(sa.func.count()).select_from(tagging)))
        try:
            s.execute(sa.insert(Article).values(author_id=4711, title="no author"))
        except sa.exc.IntegrityError as e:
            seen.append(("no parent", e.orig.args[0]))
            s.rollback()
        try:
            s.execute(sa.insert(Article).values(author_id=ada.id, title="negative", words=-1))
        except (sa.exc.IntegrityError, sa.exc.OperationalError) as e:
            seen.append(("check", e.orig.args[0]))
            s.rollback()
        locked = s.scalars(sa.select(Author).where(Author.name == "Ada").with_for_update()).one()
        seen.append(locked.settings)
        seen.append(s.scalar(sa.select(sa.func.json_extract(Author.settings, "$.a[0]")).where(Author.id == locked.id)))
        s.rollback()
    return seen


def core(engine: sa.Engine) -> list[Any]:
    seen: list[Any] = []
    article = Article.__table__
    with engine.begin() as c:
        add = mysql.insert(Tag.__table__).values([{"id": 1, "name": "db"}, {"id": 50, "name": "new"}])
        seen.append(c.execute(add.on_duplicate_key_update(name=sa.func.concat(add.inserted.name, "!"))).rowcount)
        seen.append(c.execute(sa.select(Tag.__table__).order_by(Tag.name)).all())
        numbers = sa.select(sa.literal(1).label("n")).cte("numbers", recursive=True)
        numbers = numbers.union_all(sa.select(numbers.c.n + 1).where(numbers.c.n < 6))
        seen.append(c.scalars(sa.select(numbers.c.n).order_by(numbers.c.n)).all())
        short = sa.select(article.c.title).where(article.c.words < 60)
        tagged = sa.select(article.c.title).join(tagging)
        for two in (sa.union(short, tagged), sa.except_(short, tagged), sa.intersect(short, tagged)):
            seen.append(sorted(c.scalars(two)))
        bucket = sa.case((article.c.words < 60, "short"), else_="long").label("bucket")
        seen.append(c.execute(sa.select(bucket, sa.func.count(sa.distinct(article.c.author_id))).group_by(bucket).order_by(bucket)).all())
        seen.append(c.execute(sa.select(sa.cast(article.c.words, sa.String(10)), sa.extract("year", sa.literal(datetime.date(2024, 2, 29)))).limit(1)).all())
        seen.append(c.execute(sa.delete(Tag.__table__).where(Tag.id == 50).returning(Tag.id, Tag.name)).all())
    return seen


def migrate(url: str, folder: Path) -> list[Any]:
    """Alembic: two migrations up, one down, up again; what the inspector sees after each."""
    engine = sa.create_engine(url)
    scripts = folder / "migrations"
    config = Config()
    config.set_main_option("script_location", str(scripts))
    config.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
    (scripts / "versions").mkdir(parents=True)
    (scripts / "script.py.mako").write_text("")
    (scripts / "env.py").write_text(ENV)
    for name, text in REVISIONS.items():
        (scripts / "versions" / f"{name}.py").write_text(text)
    seen: list[Any] = []

    def look(step: str) -> None:
        inspector = sa.inspect(engine)
        for table in sorted(inspector.get_table_names()):
            columns = [(c["name"], str(c["type"]), c["nullable"], c["default"]) for c in inspector.get_columns(table)]
            seen.append((step, table, columns, inspector.get_indexes(table), inspector.get_foreign_keys(table)))
        with engine.connect() as c:
            seen.append((step, c.execute(sa.text("SELECT * FROM alembic_version")).all()))

    for step, move in (("first", lambda: command.upgrade(config, "one")), ("head", lambda: command.upgrade(config, "head")),
                       ("down", lambda: command.downgrade(config, "one")), ("again", lambda: command.upgrade(config, "head")),
                       ("base", lambda: command.downgrade(config, "base"))):  # fmt: skip
        move()
        look(step)
    with engine.begin() as c:
        c.execute(sa.text("DROP TABLE alembic_version"))
    engine.dispose()
    return seen


ENV = """
from alembic import context
from sqlalchemy import create_engine
engine = create_engine(context.config.get_main_option("sqlalchemy.url"))
with engine.connect() as connection:
    context.configure(connection=connection)
    with context.begin_transaction():
        context.run_migrations()
engine.dispose()
"""

REVISIONS = {
    "one": '''
import sqlalchemy as sa
from alembic import op
revision, down_revision = "one", None

def upgrade():
    op.create_table("customer", sa.Column("id", sa.Integer, primary_key=True), sa.Column("name", sa.String(40), nullable=False),
                    sa.Column("kind", sa.Enum("private", "company"), server_default="private"))
    op.create_table("invoice", sa.Column("id", sa.Integer, primary_key=True), sa.Column("customer", sa.Integer), sa.Column("total", sa.Float))
    op.bulk_insert(sa.table("customer", sa.column("name")), [{"name": "one"}, {"name": "two"}])

def downgrade():
    op.drop_table("invoice")
    op.drop_table("customer")
''',
    "two": '''
import sqlalchemy as sa
from alembic import op
revision, down_revision = "two", "one"

def upgrade():
    op.add_column("customer", sa.Column("email", sa.String(100), nullable=False, server_default="none"))
    op.alter_column("customer", "name", existing_type=sa.String(40), existing_nullable=False, new_column_name="full_name", type_=sa.String(80))
    op.create_index("ix_customer_email", "customer", ["email"])
    op.create_unique_constraint("uq_customer_name", "customer", ["full_name"])
    op.alter_column("invoice", "total", existing_type=sa.Float(), type_=sa.Numeric(10, 2), nullable=False)
    op.create_foreign_key("fk_invoice_customer", "invoice", "customer", ["customer"], ["id"], ondelete="SET NULL")
    op.create_check_constraint("total_positive", "invoice", "total >= 0")
    op.execute("UPDATE customer SET email = CONCAT(full_name, '@example.org')")
    op.rename_table("invoice", "bill")

def downgrade():
    op.rename_table("bill", "invoice")
    op.drop_constraint("total_positive", "invoice", type_="check")
    op.drop_constraint("fk_invoice_customer", "invoice", type_="foreignkey")
    op.drop_index("fk_invoice_customer", "invoice")
    op.alter_column("invoice", "total", existing_type=sa.Numeric(10, 2), type_=sa.Float(), nullable=True)
    op.drop_constraint("uq_customer_name", "customer", type_="unique")
    op.drop_index("ix_customer_email", "customer")
    op.alter_column("customer", "full_name", existing_type=sa.String(80), existing_nullable=False, new_column_name="name", type_=sa.String(40))
    op.drop_column("customer", "email")
''',
}
