"""The same eight children as bench/children.ts: a change of the version touches three of them."""
import base64


def children_of(shop, manager):
    name, namespace, version = shop["metadata"]["name"], shop["metadata"]["namespace"], shop["spec"]["version"]
    image = f"registry.example.com/shop:{version}"
    selector = {"app.kubernetes.io/name": "shop", "app.kubernetes.io/instance": name}
    owner = {"apiVersion": "bench.dbop.dev/v1", "kind": "Shop", "name": name, "uid": shop["metadata"]["uid"],
             "controller": True, "blockOwnerDeletion": True}
    port = {"name": "http", "port": 8080, "targetPort": "http", "protocol": "TCP"}

    def child(api_version, kind, plural, child_name, **body):
        metadata = {"name": child_name, "namespace": namespace, "ownerReferences": [owner],
                    "labels": {**selector, "app.kubernetes.io/managed-by": manager}}
        root = f"/api/{api_version}" if "/" not in api_version else f"/apis/{api_version}"
        return f"{root}/namespaces/{namespace}/{plural}/{child_name}", {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}

    def container(use, **more):
        token = {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": name, "key": "token"}}}
        return {"name": use, "image": image, "env": [token], "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}, **more}

    def template(**pod):
        return {"metadata": {"labels": selector}, "spec": pod}

    return [
        child("v1", "Secret", "secrets", name, data={"token": base64.b64encode(f"not-a-secret-{name}".encode()).decode()}),
        child("v1", "ConfigMap", "configmaps", name, data={"version": version, "shop.conf": f"listen = 8080\nname = {name}\n"}),
        child("v1", "Service", "services", name, spec={"selector": selector, "ports": [port]}),
        child("v1", "Service", "services", f"{name}-pods", spec={"clusterIP": "None", "selector": selector, "ports": [port]}),
        child("apps/v1", "StatefulSet", "statefulsets", name, spec={
            "replicas": 0, "serviceName": f"{name}-pods", "selector": {"matchLabels": selector},
            "template": template(containers=[container("shop", ports=[{"name": "http", "containerPort": 8080, "protocol": "TCP"}])])}),
        child("batch/v1", "CronJob", "cronjobs", name, spec={
            "schedule": "0 3 * * *", "suspend": True,
            "jobTemplate": {"spec": {"template": template(restartPolicy="Never", containers=[container("report")])}}}),
        child("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", name, spec={"maxUnavailable": 1, "selector": {"matchLabels": selector}}),
        child("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", name, spec={
            "podSelector": {"matchLabels": selector}, "policyTypes": ["Ingress"],
            "ingress": [{"from": [{"podSelector": {}}], "ports": [{"protocol": "TCP", "port": "http"}]}]}),
    ]
