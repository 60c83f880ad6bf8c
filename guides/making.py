"""Where staff make a guide; its page shows the pictures arriving."""

from typing import Any

from django.conf import settings
from django.contrib.admin.models import ADDITION
from django.contrib.admin.views.decorators import staff_member_required
from django.contrib.auth.decorators import permission_required
from django.core import signing
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from guides import naming, services, validators
from guides.forms import NewGuideForm, PictureChoices
from guides.models import Guide, SpotDetail, SpotImageJob
from guides.writing import asking, requests
from guides.writing_form import WriteForm, price_of_texts
from jobs import queue
from jobs.console import audit
from jobs.paid import money

MADE = "made"  # the cookie that tells making.js which draft is saved


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@staff_member_required
@permission_required("guides.add_guide", raise_exception=True)
@queue.repeated
def new_guide(request: HttpRequest) -> HttpResponse:
    if "write" in request.GET:
        return new_written_guide(request)
    form = NewGuideForm(request.POST if request.method == "POST" else None)
    draft = read_plan_key(request) or naming.new_draft()
    if form.is_valid():
        guide = form.guide(draft)
        make_guide(request, guide, form.cleaned_data["spots"])
        return show(guide)
    context = {
        "form": form,
        "plan_key": plan_keys(request).sign(draft),
        **what_it_costs(form),
        "most_spots": validators.MOST_SPOTS,
    }
    return render(request, "guides/new.html", context, status=400 if form.is_bound else 200)


def new_written_guide(request: HttpRequest) -> HttpResponse:
    """The same for a guide that a model writes: a form of its own, which needs no script."""
    form = WriteForm(request.POST if request.method == "POST" else None)
    draft = read_plan_key(request) or naming.new_draft()
    if form.is_valid():
        guide = form.guide(draft)
        try:
            wish_guide(request, guide, form)
        except asking.AlreadyThere:
            form.add_error(None, _("This form has made another guide already. Open a new one."))
        else:
            return show(guide)
    context = {
        "form": form,
        "plan_key": plan_keys(request).sign(draft),
        **what_it_costs(form),
        **what_texts_cost(form),
    }
    return render(request, "guides/write.html", context, status=400 if form.is_bound else 200)


def show(guide: Guide) -> HttpResponse:
    """Go to the page of a guide that was just made, and tell making.js that its draft is over."""
    answer = redirect(guide)
    path, secure = reverse("new_guide"), settings.SESSION_COOKIE_SECURE
    answer.set_cookie(MADE, guide.plan_id, path=path, secure=secure, samesite="Lax")
    return answer


@transaction.atomic
def wish_guide(request: HttpRequest, guide: Guide, form: WriteForm) -> None:
    """Let a guide be written, and note who asked. A form that is sent twice asks once."""
    if asking.write_guide(guide, form.wish(), by=request.user) == "created":
        audit.note(request.user, [guide], gettext_noop("Asked for it to be written."), ADDITION)


@transaction.atomic
def make_guide(request: HttpRequest, guide: Guide, spots: list[SpotDetail]) -> None:
    """Save a guide, and note who made it. A form that is sent twice is saved once."""
    change = services.put_guide(guide, spots).change
    if change != "created":
        asking.forget(guide.plan_id)  # it was to be written, and now somebody has typed it
    if change == "created":
        audit.note(request.user, [guide], gettext_noop("Made with its pictures."), ADDITION)
    elif change == "updated":
        audit.note(request.user, [guide], gettext_noop("Made once more, with other words."))


def plan_keys(request: HttpRequest) -> signing.Signer:
    """Signs drafts: a form is accepted only with a name that this site gave to its author."""
    return signing.Signer(salt=f"guides.making:{request.user.pk}")


def read_plan_key(request: HttpRequest) -> str:
    try:
        return plan_keys(request).unsign(request.POST.get("plan_key", ""))
    except signing.BadSignature:
        return ""


def what_texts_cost(form: WriteForm) -> dict[str, Any]:
    """The price of the texts, beside that of the pictures: of one spot, and of all."""
    number = form.number()
    price, is_free = price_of_texts(number)
    one, outline = requests.price_of_texts(1).amount, requests.price_of_outline().amount
    return {
        "number": number,
        "texts_price": price,
        "texts_shown": money.shown(price) if price else "",
        "text_price": one or 0,
        "outline_price": outline or 0,
        "texts_are_free": is_free,
    }


def what_it_costs(form: PictureChoices) -> dict[str, Any]:
    """A price of 0 means that no price is set, unless the provider is free."""
    chosen = [each["price"] for each in form.strategies if each["is_chosen"]]
    price = chosen[0] if chosen else form.provider.cost()
    return {
        "price": price,
        "strategies": [
            {**each, "shown_price": money.shown(each["price"])} for each in form.strategies
        ],
        "shown_price": money.shown(price),
        "costs_nothing": not price and SpotImageJob.provider_is_free(),
        "currency": settings.CURRENCY,
    }
