from django.db import migrations

# Every run of three letters of a text, and the shorter ones at its end. PostgreSQL finds rows by
# these in an index. COST: too slow to be computed for each row of a large table.
GRAMS = r"""
CREATE FUNCTION search_grams(name text) RETURNS tsvector
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS $$
  SELECT array_to_tsvector(ARRAY(SELECT substr(letters, start, 3)
    FROM (SELECT lower(left(name, 1000)) AS letters) AS one, generate_series(1, length(letters)) AS start))
$$
"""
# All runs of three letters of a term; of a shorter term, whatever begins with it.
TERMS = r"""
CREATE FUNCTION search_terms(term text) RETURNS tsquery
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT string_agg(
    '''' || replace(replace(gram, '\', '\\'), '''', '''''') || '''' || CASE WHEN length(gram) < 3 THEN ':*' ELSE '' END,
    ' & ')::tsquery
  FROM (SELECT substr(letters, start, 3) AS gram
    FROM (SELECT lower(left(term, 200)) AS letters) AS one, generate_series(1, greatest(length(letters) - 2, 1)) AS start) AS grams
$$
"""
INDEXES = {
    "spotimagejob_search": ("spot_image_jobs", "spot_name"),
    "spot_search": ("spot_details", "spot_name"),
    "guide_search": ("guides", "title || ' ' || destination"),
}


def make(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(GRAMS)
        schema_editor.execute(TERMS)
        for name, (table, column) in INDEXES.items():
            schema_editor.execute(
                f"CREATE INDEX {name} ON {table} USING gin (search_grams({column}))"
            )


def remove(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for name in INDEXES:
            schema_editor.execute(f"DROP INDEX IF EXISTS {name}")
        schema_editor.execute("DROP FUNCTION IF EXISTS search_grams(text)")
        schema_editor.execute("DROP FUNCTION IF EXISTS search_terms(text)")


class Migration(migrations.Migration):
    dependencies = [("guides", "0007_operators_mend_guides")]

    operations = [
        migrations.RunPython(make, remove),
        migrations.RemoveIndex(model_name="spotimagejob", name="spotimagejob_spot"),
    ]
