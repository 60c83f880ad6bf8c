import django.db.models.functions.datetime
from django.db import migrations, models

import jobs.models.job

# The topics of a list of tags: see guides/topics/tags.py, which says the same. "C" changes ASCII
# letters only. COST: too slow to be computed for each row of a large table.
KEYS = r"""
CREATE FUNCTION topic_keys(tags jsonb) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS $$
  SELECT CASE jsonb_typeof(tags) WHEN 'array'
    THEN ARRAY(SELECT lower(tag COLLATE "C") FROM jsonb_array_elements_text(tags) AS tag) ELSE '{}' END
$$
"""


def make(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(KEYS)
        schema_editor.execute(
            "CREATE INDEX spot_topics ON spot_details USING gin (topic_keys(topic_tags))"
        )


def remove(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP INDEX IF EXISTS spot_topics")
        schema_editor.execute("DROP FUNCTION IF EXISTS topic_keys(jsonb)")


class Migration(migrations.Migration):
    dependencies = [
        ("guides", "0018_translation"),
    ]

    operations = [
        migrations.RunPython(make, remove),
        migrations.CreateModel(
            name="KeepTopic",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=jobs.models.job.uuid7,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "status",
                    models.TextField(
                        choices=[
                            ("queued", "queued"),
                            ("processing", "processing"),
                            ("succeeded", "succeeded"),
                            ("failed", "failed"),
                            ("canceled", "canceled"),
                        ],
                        db_default="queued",
                        default="queued",
                        verbose_name="status",
                    ),
                ),
                (
                    "priority",
                    models.SmallIntegerField(
                        db_default=0, default=0, help_text="lower first", verbose_name="priority"
                    ),
                ),
                (
                    "run_after",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        verbose_name="not before",
                    ),
                ),
                ("attempts", models.IntegerField(db_default=0, default=0, verbose_name="attempts")),
                (
                    "max_attempts",
                    models.IntegerField(db_default=3, default=3, verbose_name="most attempts"),
                ),
                (
                    "interruptions",
                    models.IntegerField(db_default=0, default=0, verbose_name="interruptions"),
                ),
                (
                    "unavailable_since",
                    models.DateTimeField(
                        blank=True, null=True, verbose_name="provider unavailable since"
                    ),
                ),
                ("epoch", models.IntegerField(db_default=0, default=0, verbose_name="epoch")),
                ("process_id", models.UUIDField(blank=True, null=True, verbose_name="process")),
                (
                    "parent_id",
                    models.UUIDField(
                        blank=True,
                        help_text="the job that enqueued it",
                        null=True,
                        verbose_name="came from",
                    ),
                ),
                (
                    "trace",
                    models.TextField(
                        blank=True, help_text="W3C traceparent", null=True, verbose_name="trace"
                    ),
                ),
                ("schedule_name", models.TextField(blank=True, null=True, verbose_name="schedule")),
                (
                    "scheduled_for",
                    models.DateTimeField(blank=True, null=True, verbose_name="scheduled for"),
                ),
                (
                    "unique_key",
                    models.TextField(
                        blank=True,
                        help_text="until a move lets it go",
                        null=True,
                        verbose_name="unique key",
                    ),
                ),
                (
                    "unique_while",
                    models.TextField(blank=True, null=True, verbose_name="unique while"),
                ),
                (
                    "locked_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="held since"),
                ),
                ("locked_by", models.TextField(blank=True, null=True, verbose_name="held by")),
                (
                    "lease_expires_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="held until"),
                ),
                ("last_error", models.TextField(blank=True, null=True, verbose_name="last error")),
                (
                    "error_kind",
                    models.TextField(blank=True, null=True, verbose_name="kind of error"),
                ),
                ("progress", models.JSONField(blank=True, null=True, verbose_name="progress")),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), verbose_name="created"
                    ),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), verbose_name="changed"
                    ),
                ),
                ("finished_at", models.DateTimeField(blank=True, null=True, verbose_name="ended")),
                (
                    "log_ref",
                    models.TextField(
                        blank=True,
                        help_text="files that hold older history",
                        null=True,
                        verbose_name="archived history",
                    ),
                ),
                ("asked", models.UUIDField(unique=True, verbose_name="process")),
                ("tag", models.TextField(verbose_name="topic")),
                ("languages", models.JSONField(default=list, verbose_name="languages")),
                ("source_hash", models.CharField(max_length=64, verbose_name="source hash")),
                ("plan_ids", models.JSONField(default=list, verbose_name="made of")),
            ],
            options={
                "verbose_name": "keeping of a topic’s summaries",
                "verbose_name_plural": "keepings of topics’ summaries",
                "db_table": "keep_topic_jobs",
                "abstract": False,
                "indexes": [
                    models.Index(fields=["status", "locked_at"], name="keeptopic_state"),
                    models.Index(
                        condition=models.Q(("status", "queued")),
                        fields=["priority", "run_after", "created_at"],
                        name="keeptopic_claim",
                    ),
                    models.Index(
                        condition=models.Q(("interruptions__gte", 2), ("status", "queued")),
                        fields=["run_after"],
                        name="keeptopic_suspect",
                    ),
                    models.Index(
                        condition=models.Q(("status__in", ("succeeded", "failed", "canceled"))),
                        fields=["status", "id"],
                        name="keeptopic_ended",
                    ),
                    models.Index(
                        condition=models.Q(("status", "failed")),
                        fields=["error_kind", "id"],
                        name="keeptopic_failures",
                    ),
                    models.Index(
                        condition=models.Q(("process_id__isnull", False)),
                        fields=["process_id"],
                        name="keeptopic_process",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("schedule_name__isnull", False),
                            ("status__in", ("queued", "processing")),
                        ),
                        fields=["schedule_name"],
                        name="keeptopic_open_run",
                    ),
                    models.Index(
                        condition=models.Q(("parent_id__isnull", False)),
                        fields=["parent_id", "id"],
                        name="keeptopic_parent",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("scheduled_for__isnull", False)),
                        fields=("schedule_name", "scheduled_for"),
                        name="keeptopic_scheduled",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(
                            ("status__in", ("queued", "processing")), ("unique_key__isnull", False)
                        ),
                        fields=("unique_key",),
                        name="keeptopic_unique_key",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "status__in",
                                ["queued", "processing", "succeeded", "failed", "canceled"],
                            )
                        ),
                        name="keeptopic_status",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("attempts__gte", 0),
                            ("attempts__lte", models.F("max_attempts")),
                            ("max_attempts__gte", 1),
                        ),
                        name="keeptopic_attempts",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("epoch__gte", 0), ("interruptions__gte", 0)),
                        name="keeptopic_counts",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("lease_expires_at__isnull", False),
                                ("locked_at__isnull", False),
                                ("locked_by__isnull", False),
                                ("status", "processing"),
                            ),
                            models.Q(
                                models.Q(("status", "processing"), _negated=True),
                                ("lease_expires_at", None),
                                ("locked_at", None),
                                ("locked_by", None),
                            ),
                            _connector="OR",
                        ),
                        name="keeptopic_held_while_processing",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("finished_at__isnull", False),
                                ("status__in", ("succeeded", "failed", "canceled")),
                            ),
                            models.Q(
                                models.Q(
                                    ("status__in", ("succeeded", "failed", "canceled")),
                                    _negated=True,
                                ),
                                ("finished_at", None),
                            ),
                            _connector="OR",
                        ),
                        name="keeptopic_finished_when_ended",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RefreshTopic",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=jobs.models.job.uuid7,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "status",
                    models.TextField(
                        choices=[
                            ("queued", "queued"),
                            ("processing", "processing"),
                            ("succeeded", "succeeded"),
                            ("failed", "failed"),
                            ("canceled", "canceled"),
                        ],
                        db_default="queued",
                        default="queued",
                        verbose_name="status",
                    ),
                ),
                (
                    "priority",
                    models.SmallIntegerField(
                        db_default=0, default=0, help_text="lower first", verbose_name="priority"
                    ),
                ),
                (
                    "run_after",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        verbose_name="not before",
                    ),
                ),
                ("attempts", models.IntegerField(db_default=0, default=0, verbose_name="attempts")),
                (
                    "max_attempts",
                    models.IntegerField(db_default=3, default=3, verbose_name="most attempts"),
                ),
                (
                    "interruptions",
                    models.IntegerField(db_default=0, default=0, verbose_name="interruptions"),
                ),
                (
                    "unavailable_since",
                    models.DateTimeField(
                        blank=True, null=True, verbose_name="provider unavailable since"
                    ),
                ),
                ("epoch", models.IntegerField(db_default=0, default=0, verbose_name="epoch")),
                ("process_id", models.UUIDField(blank=True, null=True, verbose_name="process")),
                (
                    "parent_id",
                    models.UUIDField(
                        blank=True,
                        help_text="the job that enqueued it",
                        null=True,
                        verbose_name="came from",
                    ),
                ),
                (
                    "trace",
                    models.TextField(
                        blank=True, help_text="W3C traceparent", null=True, verbose_name="trace"
                    ),
                ),
                ("schedule_name", models.TextField(blank=True, null=True, verbose_name="schedule")),
                (
                    "scheduled_for",
                    models.DateTimeField(blank=True, null=True, verbose_name="scheduled for"),
                ),
                (
                    "unique_key",
                    models.TextField(
                        blank=True,
                        help_text="until a move lets it go",
                        null=True,
                        verbose_name="unique key",
                    ),
                ),
                (
                    "unique_while",
                    models.TextField(blank=True, null=True, verbose_name="unique while"),
                ),
                (
                    "locked_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="held since"),
                ),
                ("locked_by", models.TextField(blank=True, null=True, verbose_name="held by")),
                (
                    "lease_expires_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="held until"),
                ),
                ("last_error", models.TextField(blank=True, null=True, verbose_name="last error")),
                (
                    "error_kind",
                    models.TextField(blank=True, null=True, verbose_name="kind of error"),
                ),
                ("progress", models.JSONField(blank=True, null=True, verbose_name="progress")),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), verbose_name="created"
                    ),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), verbose_name="changed"
                    ),
                ),
                ("finished_at", models.DateTimeField(blank=True, null=True, verbose_name="ended")),
                (
                    "log_ref",
                    models.TextField(
                        blank=True,
                        help_text="files that hold older history",
                        null=True,
                        verbose_name="archived history",
                    ),
                ),
                ("tag", models.TextField(verbose_name="topic")),
            ],
            options={
                "verbose_name": "refresh of a topic",
                "verbose_name_plural": "refreshes of topics",
                "db_table": "refresh_topic_jobs",
                "abstract": False,
                "indexes": [
                    models.Index(fields=["status", "locked_at"], name="refreshtopic_state"),
                    models.Index(
                        condition=models.Q(("status", "queued")),
                        fields=["priority", "run_after", "created_at"],
                        name="refreshtopic_claim",
                    ),
                    models.Index(
                        condition=models.Q(("interruptions__gte", 2), ("status", "queued")),
                        fields=["run_after"],
                        name="refreshtopic_suspect",
                    ),
                    models.Index(
                        condition=models.Q(("status__in", ("succeeded", "failed", "canceled"))),
                        fields=["status", "id"],
                        name="refreshtopic_ended",
                    ),
                    models.Index(
                        condition=models.Q(("status", "failed")),
                        fields=["error_kind", "id"],
                        name="refreshtopic_failures",
                    ),
                    models.Index(
                        condition=models.Q(("process_id__isnull", False)),
                        fields=["process_id"],
                        name="refreshtopic_process",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("schedule_name__isnull", False),
                            ("status__in", ("queued", "processing")),
                        ),
                        fields=["schedule_name"],
                        name="refreshtopic_open_run",
                    ),
                    models.Index(
                        condition=models.Q(("parent_id__isnull", False)),
                        fields=["parent_id", "id"],
                        name="refreshtopic_parent",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("scheduled_for__isnull", False)),
                        fields=("schedule_name", "scheduled_for"),
                        name="refreshtopic_scheduled",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(
                            ("status__in", ("queued", "processing")), ("unique_key__isnull", False)
                        ),
                        fields=("unique_key",),
                        name="refreshtopic_unique_key",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "status__in",
                                ["queued", "processing", "succeeded", "failed", "canceled"],
                            )
                        ),
                        name="refreshtopic_status",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("attempts__gte", 0),
                            ("attempts__lte", models.F("max_attempts")),
                            ("max_attempts__gte", 1),
                        ),
                        name="refreshtopic_attempts",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("epoch__gte", 0), ("interruptions__gte", 0)),
                        name="refreshtopic_counts",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("lease_expires_at__isnull", False),
                                ("locked_at__isnull", False),
                                ("locked_by__isnull", False),
                                ("status", "processing"),
                            ),
                            models.Q(
                                models.Q(("status", "processing"), _negated=True),
                                ("lease_expires_at", None),
                                ("locked_at", None),
                                ("locked_by", None),
                            ),
                            _connector="OR",
                        ),
                        name="refreshtopic_held_while_processing",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("finished_at__isnull", False),
                                ("status__in", ("succeeded", "failed", "canceled")),
                            ),
                            models.Q(
                                models.Q(
                                    ("status__in", ("succeeded", "failed", "canceled")),
                                    _negated=True,
                                ),
                                ("finished_at", None),
                            ),
                            _connector="OR",
                        ),
                        name="refreshtopic_finished_when_ended",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TopicSummary",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("tag", models.TextField(verbose_name="topic")),
                ("language", models.CharField(max_length=10, verbose_name="language")),
                (
                    "text",
                    models.TextField(blank=True, db_default="", default="", verbose_name="text"),
                ),
                (
                    "source_hash",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        max_length=64,
                        verbose_name="source hash",
                    ),
                ),
                (
                    "plan_ids",
                    models.JSONField(
                        blank=True, db_default=[], default=list, verbose_name="made of"
                    ),
                ),
                ("asked_at", models.DateTimeField(blank=True, null=True, verbose_name="asked")),
                (
                    "corrected_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="corrected"),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), verbose_name="changed"
                    ),
                ),
            ],
            options={
                "verbose_name": "summary of a topic",
                "verbose_name_plural": "summaries of topics",
                "db_table": "topic_summaries",
                "indexes": [
                    models.Index(fields=["-updated_at", "-id"], name="topic_summary_newest")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tag", "language"), name="one_summary_per_language"
                    )
                ],
            },
        ),
    ]
