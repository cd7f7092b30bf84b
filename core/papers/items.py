"""Every table, figure, equation and protocol of the four papers, in their order."""

from . import items_btd, items_pcf, items_raee, items_th

ITEMS = (*items_btd.ITEMS, *items_th.ITEMS, *items_pcf.ITEMS, *items_raee.ITEMS)
BY_NAME = {item.name: item for item in ITEMS}
