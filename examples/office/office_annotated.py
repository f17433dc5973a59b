"""The office tool with the one line of murli, and what its author knows of the commands."""

import murli
import office_app as app
import office_store as store
from murli import Example, Metadata, Paging
from office_store import Row

# What was printed becomes a result: an agent gets values under their names, people the same table.
app.table = lambda title, rows: murli.get_writer().write_success(title, rows, show=True)
app.fields = lambda row: murli.get_writer().write_success("", row, show=True)


def reads(**more: object) -> Metadata:
    """Declare a command that changes nothing."""
    return Metadata(danger_level="safe", **more)  # type: ignore[arg-type]


def changes(**more: object) -> Metadata:
    """Declare a command that changes something."""
    return Metadata(danger_level="mutating", **more)  # type: ignore[arg-type]


def lists(sort_key: str = "id") -> Metadata:
    """Declare a command that answers with rows."""
    return reads(lists=Paging(limit=50, sort_key=sort_key))


def plan_delete(customer: int) -> Row:
    """Return what deleting *customer* deletes."""
    return {"would_delete": app.find(store.load()["customers"], "id", customer, "customer")}


def plan_purge() -> Row:
    """Return which orders a purge deletes."""
    rows = store.load()["orders"]
    return {"would_delete": [row["id"] for row in rows if row["status"] == "cancelled"]}


def plan_remind(invoice: int) -> Row:
    """Return whom a reminder goes to."""
    data = store.load()
    row = app.find(data["invoices"], "id", invoice, "invoice")
    return {"would_mail": app.find(data["customers"], "id", row["customer"], "customer")["email"]}


order_state = "office orders show {order}"
for command, metadata in (
    (app.seed, Metadata(danger_level="destructive", agent_description="Replaces all data.")),
    (app.customers_list, lists()),
    (app.customers_show, reads(batch="customer")),
    (app.customers_add, changes()),
    (
        app.customers_delete,
        Metadata(danger_level="destructive", batch="customer", plan=plan_delete),
    ),
    (app.orders_list, lists()),
    (
        app.orders_show,
        reads(batch="order", examples=[Example("office orders show 1041 1042", "Two at once.")]),
    ),
    (app.orders_create, changes(next=["office orders pack {id}"])),
    (app.orders_pack, changes(batch="order", next=["office orders ship {order}"])),
    (app.orders_ship, changes(batch="order", state=order_state)),
    (app.orders_cancel, changes(batch="order", state=order_state)),
    (app.stock_list, lists("sku")),
    (
        app.stock_show,
        reads(batch="sku", examples=[Example("office stock show DESK-01 LAMP-02", "Both.")]),
    ),
    (app.stock_receive, changes(state="office stock show {sku}")),
    (app.stock_recount, reads()),
    (app.invoices_list, lists()),
    (app.invoices_show, reads(batch="invoice")),
    (app.invoices_pay, changes(batch="invoice", state="office invoices show {invoice}")),
    (app.invoices_remind, changes(batch="invoice", plan=plan_remind)),
    (app.exports_start, changes(next=["office exports status {export} --until status=done"])),
    (app.exports_status, reads(next=["office exports fetch {export}"])),
    (app.exports_fetch, Metadata(agent_description="Writes export-N.csv into the data folder.")),
    (app.reports_sales, lists("month")),
    (app.reports_overdue, reads(lists=True)),
    (app.admin_outbox, reads(lists=True)),
    (app.admin_purge, Metadata(danger_level="destructive", plan=plan_purge)),
):
    murli.annotate(command, metadata)

murli.map_exception(app.Missing, "not_found")
murli.redirect(app.cli, "invoices mark-paid", "invoices pay")
murli.enable(app.cli)

if __name__ == "__main__":
    app.cli(prog_name="office")
