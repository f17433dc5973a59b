"""The office's data: one JSON file in the folder that OFFICE_DATA names."""

from __future__ import annotations

import json
import os
import random
import time
from datetime import date, timedelta
from pathlib import Path
from typing import Any

Row = dict[str, Any]
TODAY = date(2026, 3, 2)  # the office's day is always the same, so that answers are

FIRST = [
    *("Amber", "Birch", "Cedar", "Dune", "Ember", "Fjord", "Granite"),
    *("Harbor", "Iris", "Juniper", "Kestrel", "Lark", "Maple"),
]
SECOND = ["Bakery", "Clinic", "Design", "Garage", "Hotel", "Motors", "Press", "School"]
GOODS = [("CHAIR", 89), ("DESK", 240), ("LAMP", 35), ("SHELF", 120), ("SOFA", 610)]


def folder() -> Path:
    """Return the folder of the data."""
    return Path(os.environ.get("OFFICE_DATA", "office-data"))


def load() -> dict[str, list[Row]]:
    """Return all tables."""
    data: dict[str, list[Row]] = json.loads((folder() / "office.json").read_text())
    return data


def save(data: dict[str, list[Row]]) -> None:
    """Keep all tables."""
    (folder() / "office.json").write_text(json.dumps(data, indent=0))


def export_state(export: Row) -> tuple[str, int]:
    """Return the status of an export, and how much of it is done, in percent."""
    needed = float(os.environ.get("OFFICE_EXPORT_SECONDS", "20"))
    done = min(100, int(100 * (time.time() - export["started"]) / max(needed, 0.01)))
    return ("done" if done == 100 else "running" if done >= 10 else "queued"), done


def seed() -> dict[str, list[Row]]:
    """Return the tables of an office that is the same every time."""
    chance = random.Random(1042)
    customers: list[Row] = [
        {
            "id": number,
            "name": f"{FIRST[number % 13]} {SECOND[number % 8]}",
            "email": f"office@{FIRST[number % 13]}-{SECOND[number % 8]}.example".lower(),
            "country": chance.choice(["AT", "CH", "DE", "FR"]),
        }
        for number in range(1, 61)
    ]
    for number, name in ((9, "Testarossa Motors"), (17, "Test One"), (33, "Test Two")):
        customers[number - 1]["name"] = name
    customers[57]["name"] = "Tryout Three"
    for number in (17, 33, 58):
        customers[number - 1]["email"] = f"qa+{number}@example.test"
    stock: list[Row] = [
        {
            "sku": f"{kind}-{number:02}",
            "price": price + 5 * number,
            "north": chance.randint(0, 40),
            "south": chance.randint(0, 40),
        }
        for kind, price in GOODS
        for number in range(1, 17)
    ]
    real = [each["id"] for each in customers if not each["email"].endswith(".test")]
    orders: list[Row] = []
    invoices: list[Row] = []
    for number in range(1001, 1401):
        article, count = chance.choice(stock), chance.randint(1, 9)
        day = TODAY - timedelta(days=(1400 - number) // 3)
        status = chance.choice(["shipped"] * 5 + ["open", "packed", "cancelled"])
        order = {
            "id": number,
            "customer": chance.choice(real),
            "day": day.isoformat(),
            "status": "packed" if number == 1042 else status,
            "sku": article["sku"],
            "count": count,
            "total": article["price"] * count,
        }
        orders.append(order)
        if order["status"] == "shipped":
            invoices.append(
                {
                    "id": 3000 + len(invoices),
                    "order": number,
                    "customer": order["customer"],
                    "amount": order["total"],
                    "due": (day + timedelta(days=30)).isoformat(),
                    "paid": len(invoices) != 17 and chance.random() < 0.8,
                }
            )
    exports = [{"id": n, "kind": "orders", "started": time.time() - 3600} for n in range(1, 8)]
    return {
        "customers": customers,
        "orders": orders,
        "stock": stock,
        "invoices": invoices,
        "exports": exports,
        "mails": [],
    }
