"""Django on one database (DATABASE_PORT, DATABASE_NAME): migrations made and run, then a tour of its queries; prints JSON."""

from __future__ import annotations

import datetime
import decimal
import io
import json
import os
import sys
import tempfile
import uuid
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command

HERE = Path(__file__).parent
FOLDER = tempfile.TemporaryDirectory(prefix="narwal-django-")
MIGRATIONS = Path(FOLDER.name)
sys.path[:0] = [str(HERE), str(MIGRATIONS)]

settings.configure(
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.mysql", "HOST": "127.0.0.1", "PORT": os.environ["DATABASE_PORT"],
            "NAME": os.environ["DATABASE_NAME"], "USER": "root", "OPTIONS": {"charset": "utf8mb4"},
        }
    },
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "django.contrib.admin",
                    "django.contrib.messages", "shop"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}],
    MIGRATION_MODULES={"shop": "shop_migrations"},
    USE_TZ=True, TIME_ZONE="UTC", SECRET_KEY="of a test", DEFAULT_AUTO_FIELD="django.db.models.AutoField", PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    SILENCED_SYSTEM_CHECKS=["admin.E403", "admin.E408", "admin.E409", "admin.E410"],
)  # fmt: skip
django.setup()

from django.contrib.auth.models import Permission, User  # noqa: E402
from django.db import DatabaseError, connection, models, transaction  # noqa: E402
from django.db.models import Avg, Case, Count, Exists, F, Max, OuterRef, Q, Subquery, Sum, Value, When  # noqa: E402
from django.db.models.functions import Coalesce, Concat, ExtractYear, Length, Lower, Round, TruncMonth, Upper  # noqa: E402
from shop.models import Category, Line, Order, Product, Profile  # noqa: E402

seen: list = []


def note(what: str, value: object = None) -> None:
    seen.append([what, json.loads(json.dumps(value, default=str))])


def fails(what: str, do) -> None:
    try:
        with transaction.atomic():
            do()
        note(what, "no error")
    except DatabaseError as e:
        note(what, [type(e).__name__, e.args[0]])


def tables() -> list:
    out = []
    with connection.cursor() as c:
        look = connection.introspection
        for table in sorted(look.table_names(c)):
            columns = [(d.name, d.type_code, d.null_ok, d.default) for d in look.get_table_description(c, table)]
            constraints = look.get_constraints(c, table)
            out.append((table, columns, sorted((k, sorted((x, str(y)) for x, y in v.items())) for k, v in constraints.items()),
                        look.get_primary_key_columns(c, table), look.get_relations(c, table)))  # fmt: skip
    return out


def migrate() -> None:
    (MIGRATIONS / "shop_migrations").mkdir()
    (MIGRATIONS / "shop_migrations" / "__init__.py").touch()
    call_command("makemigrations", "shop", verbosity=0)
    call_command("migrate", verbosity=0)
    note("tables", tables())
    (MIGRATIONS / "shop_migrations" / "0002_later.py").write_text(LATER)
    call_command("migrate", verbosity=0)
    note("after the second migration", [t for t in tables() if t[0].startswith("shop")])
    call_command("migrate", "shop", "0001", verbosity=0)
    note("and back", [t for t in tables() if t[0].startswith("shop")])
    out = io.StringIO()
    call_command("inspectdb", stdout=out)
    note("inspectdb", out.getvalue().splitlines()[6:])


LATER = """
from django.db import migrations, models

def fill(apps, schema_editor):
    apps.get_model("shop", "Category").objects.create(title="of a migration", slug="m", rank=7)

class Migration(migrations.Migration):
    dependencies = [("shop", "0001_initial")]
    operations = [
        migrations.RenameField("category", "name", "title"),
        migrations.AlterField("category", "title", models.CharField(max_length=90, unique=True)),
        migrations.AddField("category", "rank", models.IntegerField(default=3)),
        migrations.AlterField("product", "stock", models.BigIntegerField(default=1)),
        migrations.AlterField("product", "description", models.TextField(null=True)),
        migrations.AddIndex("product", models.Index(fields=["stock"], name="product_stock")),
        migrations.RemoveConstraint("product", "price_not_negative"),
        migrations.RenameModel("Profile", "Statistics"),
        migrations.CreateModel("Note", [("id", models.AutoField(primary_key=True)), ("text", models.TextField()),
                                        ("line", models.ForeignKey("shop.line", models.SET_NULL, null=True))]),
        migrations.RunPython(fill, lambda apps, schema_editor: apps.get_model("shop", "Category").objects.all().delete()),
    ]
"""


def fill() -> None:
    user = User.objects.create_user("ada", "ada@example.org", "secret")
    note("user", [user.check_password("secret"), user.has_perm("shop.add_product"), Permission.objects.count()])
    top = Category.objects.create(name="All", slug="all")
    kinds = [Category.objects.create(name=n, slug=n.lower(), parent=top) for n in ("Books", "Tools", "Toys")]
    made = Product.objects.bulk_create([
        Product(
            code=uuid.UUID(int=i) if os.environ.get("TOUR_UUID") else i, name=f"Product {i:02}", price=decimal.Decimal(i * 7) / 2, weight=i / 3 if i % 4 else None, stock=i,
            active=i % 3 != 0, released=datetime.date(2020 + i % 3, 1 + i % 12, 1 + i), opens=datetime.time(i, 30),
            lasts=datetime.timedelta(hours=i, microseconds=i), details={"size": i, "tags": ["a", "b"][: i % 3], "deep": {"x": None}},
            image=bytes([i, 0, 255]), address=f"10.0.0.{i}",
        )
        for i in range(20)
    ])  # fmt: skip
    products = list(Product.objects.all())
    note("made", [len(made), len(products)])
    for p in products:
        p.categories.set(kinds[: p.stock % 4])
    Profile.objects.bulk_create(Profile(product=p, views=p.stock * 100) for p in products[::2])
    for i in range(5):
        order = Order.objects.create(placed=datetime.datetime(2024, 1 + i, 3, 4, 5, 6, 789, tzinfo=datetime.timezone.utc), customer=user)
        Line.objects.bulk_create(Line(order=order, product=p, amount=1 + p.stock % 3) for p in products[i : i + 4])


def query() -> None:
    everything = Product.objects.values_list("name", "price", "weight", "released", "opens", "lasts", "details", "image", "address", "active")
    note("values", list(everything.order_by("name")))
    note("filters", list(Product.objects.filter(Q(name__icontains="product 1") | Q(price__lt=5), active=True).exclude(stock=4).values_list("name", flat=True)))
    note("lookups", [Product.objects.filter(**f).count() for f in (
        {"name__startswith": "Product"}, {"name__istartswith": "pRO"}, {"name__regex": "1[0-5]$"}, {"name__iregex": "^PRODUCT"}, {"stock__in": [1, 2, 99]},
        {"stock__range": (3, 7)}, {"released__year": 2021}, {"released__month__gte": 6}, {"weight__isnull": True}, {"opens__hour": 3},
        {"details__size": 4}, {"details__tags__contains": "a"}, {"details__deep__x": None}, {"details__has_key": "size"}, {"name__exact": "product 01"},
        {"categories__name": "Books"}, {"categories__parent__name": "All"}, {"profile__views__gt": 500},
    )])  # fmt: skip
    note("joins", list(Product.objects.filter(categories__slug="tools").select_related("profile").order_by("-price").values_list("name", "profile__views")[:5]))
    note("annotated", list(Category.objects.annotate(n=Count("products"), best=Max("products__price"), s=Coalesce(Sum("products__stock"), 0)).order_by("name").values_list("name", "n", "best", "s")))
    note("aggregate", Product.objects.aggregate(Avg("price"), Count("weight"), Sum("stock"), total=Sum(F("price") * F("stock"))))
    note("having", list(Order.objects.annotate(n=Sum("lines__amount")).filter(n__gt=7).order_by("number").values_list("n", flat=True)))
    newest = Line.objects.filter(product=OuterRef("pk")).order_by("-order__placed")
    note("subquery", list(Product.objects.annotate(last=Subquery(newest.values("order__placed")[:1])).filter(last__isnull=False).values_list("name", "last")))
    note("exists", list(Product.objects.filter(~Exists(Line.objects.filter(product=OuterRef("pk")))).values_list("name", flat=True)))
    note("expressions", list(Product.objects.annotate(
        label=Concat(Upper("name"), Value(": "), Lower("name")), n=Length("name"), y=ExtractYear("released"), m=TruncMonth("released"), r=Round(F("price") / 3, 1),
        band=Case(When(price__lt=10, then=Value("low")), When(price__lt=40, then=Value("middle")), default=Value("high")),
    ).order_by("stock").values_list("label", "n", "y", "m", "r", "band")[:8]))  # fmt: skip
    note("by month", list(Order.objects.annotate(m=TruncMonth("placed")).values("m").annotate(n=Count("number")).order_by("m").values_list("m", "n")))
    note("datetimes", list(Order.objects.datetimes("placed", "day")))
    a, b = Product.objects.filter(stock__lt=5).values_list("stock", flat=True), Product.objects.filter(stock__gte=3, stock__lt=8).values_list("stock", flat=True)
    note("sets", [sorted(a.union(b)), sorted(a.intersection(b)), sorted(a.difference(b))])
    note("distinct", sorted(Product.objects.values_list("categories__name", flat=True).distinct(), key=str))
    note("prefetched", [[c.name, [p.name for p in c.products.all()]] for c in Category.objects.prefetch_related("products").order_by("id")])
    note("raw", [[p.name, p.twice] for p in Product.objects.raw("SELECT id, name, stock * 2 AS twice FROM shop_product WHERE stock < %s ORDER BY id", [3])])
    note("explain", bool(Product.objects.filter(stock=3).explain()))


def change() -> None:
    note("updated", Product.objects.filter(stock__lt=10).update(price=F("price") + 1, stock=F("stock") * 2))
    note("related", Product.objects.filter(categories__name="Toys").update(active=False))
    note("get or create", [Category.objects.get_or_create(name="Books", defaults={"slug": "x"})[1], Category.objects.update_or_create(name="New", defaults={"slug": "n"})[1]])
    for p in (changed := list(Product.objects.all()[:5])):
        p.weight = 1.5
    Product.objects.bulk_update(changed, ["weight"])
    Category.objects.bulk_create([Category(name="Books", slug="again"), Category(name="Maps", slug="maps")], update_conflicts=True, update_fields=["slug"])
    note("upserted", list(Category.objects.order_by("name").values_list("name", "slug")))
    Category.objects.bulk_create([Category(name="Maps", slug="ignored")], ignore_conflicts=True)
    fails("duplicate", lambda: Category.objects.create(name="Maps", slug="m"))
    fails("check", lambda: Product.objects.create(code=uuid.UUID(int=99) if os.environ.get("TOUR_UUID") else 99, name="negative", price=-1))
    fails("no parent", lambda: [Line.objects.create(order_id=1, product_id=4711, amount=1), connection.check_constraints()])
    fails("too long", lambda: Category.objects.create(name="x" * 50, slug="x"))
    with transaction.atomic():
        locked = Product.objects.select_for_update().get(name="Product 03")
        note("locked", locked.stock)
        point = transaction.savepoint()
        locked.delete() if not locked.lines.exists() else locked.categories.clear()
        transaction.savepoint_rollback(point)
    note("after the savepoint", Product.objects.filter(name="Product 03").count())
    note("deleted", sorted(Order.objects.filter(number__lte=2).delete()[1].items()))
    note("cascade", sorted(Category.objects.get(name="All").delete()[1].items()))
    note("left", [m.objects.count() for m in (Category, Product, Profile, Order, Line, User)])
    try:
        Product.objects.filter(lines__isnull=False).delete()
    except models.RestrictedError as e:
        note("restricted", len(e.restricted_objects))


def sessions() -> None:
    from django.contrib.sessions.backends.db import SessionStore

    s = SessionStore()
    s["basket"] = [1, 2, {"ž": None}]
    s.save()
    note("session", SessionStore(session_key=s.session_key)["basket"])
    call_command("clearsessions")


for step in (migrate, fill, query, change, sessions):
    step()
call_command("flush", interactive=False, verbosity=0)
note("flushed", [m.objects.count() for m in (Category, Product, User)])
print(json.dumps(seen))
