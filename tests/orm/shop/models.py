"""Its models: every common kind of field, relations of every kind, constraints."""

from __future__ import annotations

import os
import uuid

from django.db import models
from django.db.models import Q


class Category(models.Model):
    name = models.CharField(max_length=40, unique=True)
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.CASCADE, related_name="children")
    slug = models.SlugField()


class Product(models.Model):
    # MariaDB has a type for it since 10.7, which Narwal does not have yet.
    code = models.UUIDField(default=uuid.uuid4, unique=True) if os.environ.get("TOUR_UUID") else models.IntegerField(unique=True)
    name = models.CharField(max_length=100, db_index=True)
    description = models.TextField(blank=True)
    price = models.DecimalField(max_digits=10, decimal_places=2)
    weight = models.FloatField(null=True)
    stock = models.PositiveIntegerField(default=0)
    active = models.BooleanField(default=True)
    released = models.DateField(null=True)
    opens = models.TimeField(null=True)
    lasts = models.DurationField(null=True)
    details = models.JSONField(default=dict)
    image = models.BinaryField(null=True)
    address = models.GenericIPAddressField(null=True)
    changed = models.DateTimeField(auto_now=True)
    categories = models.ManyToManyField(Category, related_name="products")

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["active", "-price"], name="product_active_price")]
        constraints = [
            models.CheckConstraint(condition=Q(price__gte=0), name="price_not_negative"),
            models.UniqueConstraint(fields=["name", "released"], name="name_and_release"),
        ]


class Profile(models.Model):
    product = models.OneToOneField(Product, on_delete=models.CASCADE, primary_key=True)
    views = models.BigIntegerField(default=0)


class Order(models.Model):
    number = models.BigAutoField(primary_key=True)
    placed = models.DateTimeField()
    customer = models.ForeignKey("auth.User", on_delete=models.PROTECT)


class Line(models.Model):
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="lines")
    product = models.ForeignKey(Product, on_delete=models.RESTRICT, related_name="lines")
    amount = models.SmallIntegerField()

    class Meta:
        unique_together = [("order", "product")]
