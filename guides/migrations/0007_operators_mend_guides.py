from django.db import migrations


def grant(apps, schema_editor):
    """Once, to a group of an earlier release; a new group gets its permissions after `migrate`."""
    using = schema_editor.connection.alias
    group = apps.get_model("auth", "Group").objects.using(using).filter(name="operators").first()
    if group:
        permissions = apps.get_model("auth", "Permission").objects.using(using)
        names = ("change_guide", "change_spotdetail")
        group.permissions.add(
            *permissions.filter(content_type__app_label="guides", codename__in=names)
        )


class Migration(migrations.Migration):
    dependencies = [
        ("guides", "0006_defaults_for_plain_sql"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [migrations.RunPython(grant, migrations.RunPython.noop)]
