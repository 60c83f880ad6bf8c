"""Where staff make a guide; its page shows the pictures arriving."""

from django.contrib.admin.views.decorators import staff_member_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from guides import limits, services
from guides.forms import NewGuideForm


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@staff_member_required
def new_guide(request: HttpRequest) -> HttpResponse:
    form = NewGuideForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        guide = services.save_guide(form.guide, form.cleaned_data["spots"])
        return redirect(guide)
    context = {
        "form": form,
        "price": services.price_of(1),
        "most_spots": limits.MOST_SPOTS,
    }
    return render(request, "guides/new.html", context, status=400 if form.is_bound else 200)
