"""An office tool as its author wrote it, for people: tables, prompts, a progress bar."""

from __future__ import annotations

import difflib
import time
from typing import Any

import click

import office_store as store
from office_store import Row


class Missing(click.ClickException):
    """There is no such thing."""


def find(rows: list[Row], key: str, value: Any, what: str) -> Row:
    """Return the row whose *key* is *value*."""
    for row in rows:
        if row[key] == value:
            return row
    near = difflib.get_close_matches(str(value), [str(row[key]) for row in rows], 1)
    hint = f" Did you mean {near[0]}?" if near and what == "SKU" else ""
    raise Missing(f"No {what} {value}.{hint}")


def table(title: str, rows: list[Row]) -> None:
    """Print *rows* as a table."""
    from rich.console import Console
    from rich.table import Table

    shown = Table(title=title)
    for name in rows[0] if rows else ["nothing"]:
        shown.add_column(name.capitalize())
    for row in rows:
        shown.add_row(*(str(value) for value in row.values()))
    Console().print(shown)


def fields(row: Row) -> None:
    """Print *row* a line each field."""
    for name, value in row.items():
        click.echo(f"{name.capitalize() + ':':<10} {value}")


def total(rows: list[Row], by: Any, what: str) -> dict[str, int]:
    """Return the sums of *what* of the rows, by what *by* returns of each."""
    sums: dict[str, int] = {}
    for row in rows:
        sums[by(row)] = sums.get(by(row), 0) + row[what]
    return dict(sorted(sums.items()))


@click.group()
@click.version_option("2.4.0", prog_name="office")
def cli() -> None:
    """Run the office: customers, orders, stock, invoices."""


@cli.command()
def seed() -> None:
    """Write the example data."""
    store.folder().mkdir(parents=True, exist_ok=True)
    store.save(store.seed())
    click.echo(f"The office is in {store.folder()}.")


@cli.group()
def customers() -> None:
    """Who buys."""


@customers.command("list")
@click.option("--country", type=click.Choice(["AT", "CH", "DE", "FR"]), help="Only from there.")
def customers_list(country: str | None) -> None:
    """List the customers."""
    rows = store.load()["customers"]
    table("Customers", [row for row in rows if country in (None, row["country"])])


@customers.command("show")
@click.argument("customer", type=int)
def customers_show(customer: int) -> None:
    """Show a customer with what they have bought."""
    data = store.load()
    row = find(data["customers"], "id", customer, "customer")
    theirs = [each for each in data["orders"] if each["customer"] == customer]
    fields({**row, "orders": len(theirs), "bought": sum(each["total"] for each in theirs)})


@customers.command("add")
@click.argument("name")
@click.option("--email", required=True, help="Where invoices go.")
@click.option("--country", required=True, type=click.Choice(["AT", "CH", "DE", "FR"]))
def customers_add(name: str, email: str, country: str) -> None:
    """Add a customer."""
    data = store.load()
    number = max(row["id"] for row in data["customers"]) + 1
    row = {"id": number, "name": name, "email": email, "country": country}
    data["customers"].append(row)
    store.save(data)
    fields(row)


@customers.command("delete")
@click.argument("customer", type=int)
@click.confirmation_option(prompt="Delete the customer for good?")
def customers_delete(customer: int) -> None:
    """Delete a customer for good."""
    data = store.load()
    data["customers"].remove(find(data["customers"], "id", customer, "customer"))
    store.save(data)
    click.echo(f"Deleted customer {customer}.")


@cli.group()
def orders() -> None:
    """What they order."""


@orders.command("list")
@click.option("--status", type=click.Choice(["open", "packed", "shipped", "cancelled"]))
@click.option("--customer", type=int, help="Only of this customer.")
def orders_list(status: str | None, customer: int | None) -> None:
    """List the orders, the oldest first."""
    rows = [row for row in store.load()["orders"] if status in (None, row["status"])]
    table("Orders", [row for row in rows if customer in (None, row["customer"])])


@orders.command("show")
@click.argument("order", type=int)
def orders_show(order: int) -> None:
    """Show an order."""
    fields(find(store.load()["orders"], "id", order, "order"))


def set_status(order: int, status: str, allowed: list[str]) -> None:
    """Change the status of an order that is in one of the *allowed* ones."""
    data = store.load()
    row = find(data["orders"], "id", order, "order")
    if row["status"] not in allowed:
        raise click.ClickException(f"Order {order} is {row['status']}.")
    row["status"] = status
    store.save(data)
    click.echo(f"Order {order} is {status}.")


@orders.command("create")
@click.argument("customer", type=int)
@click.argument("sku")
@click.option("--count", type=click.IntRange(1), default=1, show_default=True)
def orders_create(customer: int, sku: str, count: int) -> None:
    """Create an order."""
    data = store.load()
    find(data["customers"], "id", customer, "customer")
    price = find(data["stock"], "sku", sku, "SKU")["price"]
    row = {"id": data["orders"][-1]["id"] + 1, "customer": customer, "day": str(store.TODAY)}
    row.update(status="open", sku=sku, count=count, total=price * count)
    data["orders"].append(row)
    store.save(data)
    fields(row)


@orders.command("pack")
@click.argument("order", type=int)
def orders_pack(order: int) -> None:
    """Mark an open order as packed."""
    set_status(order, "packed", ["open"])


@orders.command("ship")
@click.argument("order", type=int)
def orders_ship(order: int) -> None:
    """Mark a packed order as shipped."""
    set_status(order, "shipped", ["packed"])


@orders.command("cancel")
@click.argument("order", type=int)
def orders_cancel(order: int) -> None:
    """Cancel an order that is not shipped."""
    click.confirm(f"Cancel order {order}?", abort=True)
    set_status(order, "cancelled", ["open", "packed"])


@cli.group()
def stock() -> None:
    """What is in the two warehouses."""


@stock.command("list")
@click.option("--below", type=int, help="Only what has fewer pieces in both together.")
def stock_list(below: int | None) -> None:
    """List articles with all their pieces."""
    rows = [(row, row["north"] + row["south"]) for row in store.load()["stock"]]
    few = [(row, pieces) for row, pieces in rows if below is None or pieces < below]
    table("Stock", [{"sku": r["sku"], "price": r["price"], "pieces": n} for r, n in few])


@stock.command("show")
@click.argument("sku")
def stock_show(sku: str) -> None:
    """Show an article, and how many are where."""
    fields(find(store.load()["stock"], "sku", sku, "SKU"))


@stock.command("receive")
@click.argument("sku")
@click.argument("count", type=click.IntRange(1))
@click.option("--to", type=click.Choice(["north", "south"]), required=True)
def stock_receive(sku: str, count: int, to: str) -> None:
    """Put pieces that came into a warehouse."""
    data = store.load()
    row = find(data["stock"], "sku", sku, "SKU")
    row[to] += count
    store.save(data)
    fields(row)


@stock.command("recount")
def stock_recount() -> None:
    """Count all articles; takes a while."""
    rows = store.load()["stock"]
    pieces = 0
    with click.progressbar(rows, label="Counting") as bar:
        for row in bar:
            pieces += row["north"] + row["south"]
            time.sleep(0.005)
    click.echo(f"Pieces: {pieces}")


@cli.group()
def invoices() -> None:
    """What they owe."""


@invoices.command("list")
@click.option("--unpaid", is_flag=True, help="Only those that are not paid.")
def invoices_list(unpaid: bool) -> None:
    """List the invoices."""
    table("Invoices", [r for r in store.load()["invoices"] if not (unpaid and r["paid"])])


@invoices.command("show")
@click.argument("invoice", type=int)
def invoices_show(invoice: int) -> None:
    """Show an invoice."""
    fields(find(store.load()["invoices"], "id", invoice, "invoice"))


@invoices.command("pay")
@click.argument("invoice", type=int)
def invoices_pay(invoice: int) -> None:
    """Mark an invoice as paid."""
    data = store.load()
    row = find(data["invoices"], "id", invoice, "invoice")
    if row["paid"]:
        raise click.ClickException(f"Invoice {invoice} is paid already.")
    row["paid"] = True
    store.save(data)
    click.echo(f"Invoice {invoice} is paid.")


@invoices.command("remind")
@click.argument("invoice", type=int)
def invoices_remind(invoice: int) -> None:
    """Send the customer a reminder by mail."""
    data = store.load()
    row = find(data["invoices"], "id", invoice, "invoice")
    to = find(data["customers"], "id", row["customer"], "customer")["email"]
    click.confirm(f"Send a mail to {to}?", abort=True)
    data["mails"].append({"to": to, "subject": f"Invoice {invoice} is due"})
    store.save(data)
    click.echo(f"Sent to {to}.")


@cli.group()
def exports() -> None:
    """Files for the accountant, made in the background."""


@exports.command("start")
@click.argument("kind", type=click.Choice(["customers", "orders", "stock", "invoices"]))
def exports_start(kind: str) -> None:
    """Start an export."""
    data = store.load()
    number = len(data["exports"]) + 1
    data["exports"].append({"id": number, "kind": kind, "started": time.time()})
    store.save(data)
    fields({"export": number, "kind": kind, "status": "queued"})


@exports.command("status")
@click.argument("export", type=int)
def exports_status(export: int) -> None:
    """Show how far an export is."""
    row = find(store.load()["exports"], "id", export, "export")
    status, done = store.export_state(row)
    fields({"export": export, "kind": row["kind"], "status": status, "done": f"{done} %"})


@exports.command("fetch")
@click.argument("export", type=int)
def exports_fetch(export: int) -> None:
    """Write a finished export as a CSV file."""
    data = store.load()
    row = find(data["exports"], "id", export, "export")
    if store.export_state(row)[0] != "done":
        raise click.ClickException(f"Export {export} is not done yet.")
    rows = data[row["kind"]]
    path = store.folder() / f"export-{export}.csv"
    with path.open("w") as file, click.progressbar(rows, label="Writing") as bar:
        file.write(",".join(rows[0]) + "\n")
        file.writelines(",".join(map(str, each.values())) + "\n" for each in bar)
    click.echo(f"Wrote {len(rows)} rows to {path}.")


@cli.group()
def reports() -> None:
    """Figures."""


@reports.command("sales")
def reports_sales() -> None:
    """Show what was shipped in each month."""
    shipped = [row for row in store.load()["orders"] if row["status"] == "shipped"]
    months = total(shipped, lambda row: row["day"][:7], "total")
    table("Sales", [{"month": month, "sales": sales} for month, sales in months.items()])


@reports.command("overdue")
def reports_overdue() -> None:
    """List invoices that are unpaid and past their day."""
    rows = [r for r in store.load()["invoices"] if not r["paid"] and r["due"] < str(store.TODAY)]
    table("Overdue", sorted(rows, key=lambda row: -row["amount"]))


@cli.group()
def admin() -> None:
    """Housekeeping."""


@admin.command("outbox")
def admin_outbox() -> None:
    """List the mails that were sent."""
    table("Mails", store.load()["mails"])


@admin.command("purge")
@click.confirmation_option(prompt="Delete all cancelled orders for good?")
def admin_purge() -> None:
    """Delete all cancelled orders for good."""
    data = store.load()
    kept = [row for row in data["orders"] if row["status"] != "cancelled"]
    click.echo(f"Deleted {len(data['orders']) - len(kept)} orders.")
    store.save({**data, "orders": kept})
