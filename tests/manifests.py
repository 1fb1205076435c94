"""Manifests as charts write them, before any API server has had them."""

#: A document of its own, to stand behind a workload of Pods labelled app: web.
SERVICE = """\
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
"""
