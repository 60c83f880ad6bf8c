"""One translated text beside its original, for a person to correct."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.utils import quote
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import escape
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget

from guides import validators
from guides.translation.correcting import correct
from guides.translation.models import GuideTranslation
from guides.translation.texts import has_lines, source_of
from jobs.admin.base import CappedPaginator, DescribedAdmin


class TextForm(forms.ModelForm):
    """The hash of the original that the person sees goes along: it may change meanwhile."""

    seen = forms.RegexField(r"\A[0-9a-f]{64}\Z", widget=forms.HiddenInput, required=False)

    class Meta:
        model = GuideTranslation
        fields = ["text"]
        widgets = {"text": UnfoldAdminTextareaWidget(attrs={"rows": 6})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.source = source_of(self.instance.guide, self.instance.key)
        if "text" not in self.fields:
            return  # for a user who may only view it
        self.fields["text"].required = True
        if self.source:
            self.fields["seen"].initial = self.source.hash
            # The admin writes help texts as they are, and this one is an author's.
            self.fields["text"].help_text = escape(self.source.text)
        self.fields["text"].widget.attrs["lang"] = self.instance.language

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"].strip().replace("\r\n", "\n")
        if self.source is None:
            raise ValidationError(_("The guide has no such text any more."))
        lines = has_lines(self.instance.key)
        most = max(self.source.most, validators.LONGEST_TITLE)
        validators.check_text(text, most, lines=lines)
        return text


@admin.register(GuideTranslation)
class GuideTranslationAdmin(DescribedAdmin):
    """A person who may change a guide may correct its translations."""

    form = TextForm
    list_display = ["key", "plan_id", "language", "state", "made_by", "updated_at"]
    search_fields = ["guide"]  # only to show the search box
    search_help_text = _("plan id")
    fieldsets = [
        (None, {"fields": ["key", "language", "state", "fault", "made_by", "text", "seen"]})
    ]
    readonly_fields = ["key", "language", "state", "fault", "made_by"]
    ordering = ["-id"]
    sortable_by: list[str] = []
    show_full_result_count = False
    paginator = CappedPaginator
    list_per_page = 50
    list_max_show_all = 0
    actions = None

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        return False

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[Any, bool]:
        term = search_term.strip().replace("\x00", "")
        return (queryset.filter(guide_id=term) if term else queryset), False

    @admin.display(description=_("plan id"))
    def plan_id(self, row: GuideTranslation) -> str:
        return row.guide_id

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("guides.change_guide")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return any(request.user.has_perm(f"guides.{each}_guide") for each in ("view", "change"))

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if "text" in form.changed_data or obj.source_hash != form.cleaned_data["seen"]:
            correct(obj, obj.text, form.cleaned_data["seen"], by=request.user)

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        """Back to all texts of the guide in this language."""
        response: HttpResponse = super().response_change(request, obj)
        if isinstance(response, HttpResponseRedirect) and "_continue" not in request.POST:
            return HttpResponseRedirect(
                reverse("admin:guides_guide_translations", args=[quote(obj.guide_id), obj.language])
            )
        return response
