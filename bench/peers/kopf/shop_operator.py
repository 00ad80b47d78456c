"""The benchmark's operator as one writes it with kopf: a handler that applies all children, at once, by server-side apply.

kopf has no API client for handlers; aiohttp, on which it stands itself, is the fastest at hand.
"""
import asyncio
import json
import os
import ssl

import aiohttp
import kopf
import yaml

from children import children_of

FIELD_MANAGER = "bench-kopf"


@kopf.on.startup()
async def connect(settings: kopf.OperatorSettings, memo: kopf.Memo, **_):
    settings.posting.enabled = False  # No Events: the other peers send none either.
    settings.persistence.progress_storage = kopf.AnnotationsProgressStorage()  # The status has a schema that knows no other field.
    with open(os.environ["KUBECONFIG"]) as file:
        config = yaml.safe_load(file)
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    trust = ssl.create_default_context(cafile=cluster["certificate-authority"])
    memo.session = aiohttp.ClientSession(
        base_url=cluster["server"],
        connector=aiohttp.TCPConnector(limit=32, ssl=trust),
        headers={"Authorization": f"Bearer {user['token']}", "Content-Type": "application/apply-patch+yaml"},
    )


@kopf.on.cleanup()
async def disconnect(memo: kopf.Memo, **_):
    await memo.session.close()


@kopf.on.create("bench.dbop.dev", "v1", "shops")
@kopf.on.update("bench.dbop.dev", "v1", "shops")
@kopf.on.resume("bench.dbop.dev", "v1", "shops")
async def reconcile(body, meta, status, patch, memo: kopf.Memo, **_):
    await asyncio.gather(*(apply(memo.session, path, child) for path, child in children_of(body, FIELD_MANAGER)))
    if status.get("observedGeneration") == meta["generation"]:
        return
    ready = {"type": "Ready", "status": "True", "reason": "Ready", "message": "all children are applied",
             "observedGeneration": meta["generation"], "lastTransitionTime": meta["creationTimestamp"]}
    patch.status["observedGeneration"] = meta["generation"]
    patch.status["conditions"] = [ready]


async def apply(session: aiohttp.ClientSession, path: str, child: dict):
    async with session.patch(path, params={"fieldManager": FIELD_MANAGER, "force": "true"}, data=json.dumps(child)) as answer:
        answer.raise_for_status()
        await answer.read()
