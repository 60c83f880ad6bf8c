from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0004_seen_calls")]

    operations = [
        migrations.AddField(
            model_name="call",
            name="booked_on",
            field=models.DateField(null=True, verbose_name="spent on"),
        ),
    ]
