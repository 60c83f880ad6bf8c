from django.db import migrations

# All that a page says of its guides: see guides/revision.py. The sum does not depend on the order
# of the rows, and the numbers keep the tables apart. plpgsql keeps one plan for a whole session:
# planning takes twice as long as running it.
REVISION = """
CREATE FUNCTION guides_revision(plan_ids text[]) RETURNS text
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN (
    SELECT concat(count(*), ' ', sum(version)) FROM (
      SELECT hashtextextended(concat(xmin, ctid), 1) AS version
        FROM guides WHERE plan_id = ANY(plan_ids)
      UNION ALL SELECT hashtextextended(concat(xmin, ctid), 2)
        FROM spot_details WHERE plan_id = ANY(plan_ids)
      UNION ALL SELECT hashtextextended(concat(xmin, ctid), 3)
        FROM spot_image_jobs WHERE plan_id = ANY(plan_ids)
      UNION ALL SELECT hashtextextended(concat(xmin, ctid), 4)
        FROM manuscripts WHERE plan_id = ANY(plan_ids)
      UNION ALL SELECT hashtextextended(concat(xmin, ctid), 5)
        FROM guide_translations WHERE plan_id = ANY(plan_ids)
    ) AS versions
  );
END
$$
"""


def make(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(REVISION)


def remove(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP FUNCTION IF EXISTS guides_revision(text[])")


class Migration(migrations.Migration):
    dependencies = [
        ("guides", "0021_traces"),
    ]

    operations = [
        migrations.RunPython(make, remove),
    ]
