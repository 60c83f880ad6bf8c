from django.db import migrations, models
from django.db.models import F, Q


def keep_what_was_seen(apps, schema_editor):
    """Until now the same column said both."""
    calls = apps.get_model("jobs", "Call").objects.using(schema_editor.connection.alias)
    calls.filter(excused=True).update(seen=F("excused"))


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0003_console"),
    ]

    operations = [
        migrations.AddField(
            model_name="call",
            name="seen",
            field=models.BooleanField(
                db_default=False,
                help_text="a person has looked into it",
                verbose_name="seen",
            ),
        ),
        migrations.RunPython(keep_what_was_seen, migrations.RunPython.noop),
        migrations.RemoveIndex(model_name="call", name="call_unknown"),
        migrations.AddIndex(
            model_name="call",
            index=models.Index(
                condition=Q(state="unknown") & Q(seen=False),
                fields=["started_at"],
                name="call_unknown",
            ),
        ),
    ]
