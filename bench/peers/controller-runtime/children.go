package main

import (
	"errors"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	apps "k8s.io/client-go/applyconfigurations/apps/v1"
	batch "k8s.io/client-go/applyconfigurations/batch/v1"
	core "k8s.io/client-go/applyconfigurations/core/v1"
	meta "k8s.io/client-go/applyconfigurations/meta/v1"
	networking "k8s.io/client-go/applyconfigurations/networking/v1"
	policy "k8s.io/client-go/applyconfigurations/policy/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

// childrenOf has the same eight children as bench/children.ts: a change of the version touches three of them.
func childrenOf(shop *Shop) []runtime.ApplyConfiguration {
	name, namespace := shop.Name, shop.Namespace
	image := "registry.example.com/shop:" + shop.Spec.Version
	selector := map[string]string{"app.kubernetes.io/name": "shop", "app.kubernetes.io/instance": name}
	labels := map[string]string{"app.kubernetes.io/name": "shop", "app.kubernetes.io/instance": name, "app.kubernetes.io/managed-by": fieldManager}
	owner := meta.OwnerReference().WithAPIVersion(shopVersion.String()).WithKind("Shop").WithName(name).WithUID(shop.UID).WithController(true).WithBlockOwnerDeletion(true)
	pods := func() *meta.LabelSelectorApplyConfiguration { return meta.LabelSelector().WithMatchLabels(selector) }
	port := func() *core.ServicePortApplyConfiguration {
		return core.ServicePort().WithName("http").WithPort(8080).WithTargetPort(intstr.FromString("http")).WithProtocol(corev1.ProtocolTCP)
	}
	container := func(use string) *core.ContainerApplyConfiguration {
		return core.Container().WithName(use).WithImage(image).
			WithEnv(core.EnvVar().WithName("TOKEN").WithValueFrom(core.EnvVarSource().WithSecretKeyRef(core.SecretKeySelector().WithName(name).WithKey("token")))).
			WithResources(core.ResourceRequirements().WithRequests(corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("64Mi")}))
	}
	return []runtime.ApplyConfiguration{
		core.Secret(name, namespace).WithLabels(labels).WithOwnerReferences(owner).WithData(map[string][]byte{"token": []byte("not-a-secret-" + name)}),
		core.ConfigMap(name, namespace).WithLabels(labels).WithOwnerReferences(owner).WithData(map[string]string{"version": shop.Spec.Version, "shop.conf": "listen = 8080\nname = " + name + "\n"}),
		core.Service(name, namespace).WithLabels(labels).WithOwnerReferences(owner).WithSpec(core.ServiceSpec().WithSelector(selector).WithPorts(port())),
		core.Service(name+"-pods", namespace).WithLabels(labels).WithOwnerReferences(owner).WithSpec(core.ServiceSpec().WithClusterIP("None").WithSelector(selector).WithPorts(port())),
		apps.StatefulSet(name, namespace).WithLabels(labels).WithOwnerReferences(owner).WithSpec(apps.StatefulSetSpec().WithReplicas(0).WithServiceName(name + "-pods").WithSelector(pods()).
			WithTemplate(core.PodTemplateSpec().WithLabels(selector).WithSpec(core.PodSpec().WithContainers(
				container("shop").WithPorts(core.ContainerPort().WithName("http").WithContainerPort(8080).WithProtocol(corev1.ProtocolTCP)))))),
		batch.CronJob(name, namespace).WithLabels(labels).WithOwnerReferences(owner).WithSpec(batch.CronJobSpec().WithSchedule("0 3 * * *").WithSuspend(true).
			WithJobTemplate(batch.JobTemplateSpec().WithSpec(batch.JobSpec().WithTemplate(core.PodTemplateSpec().WithLabels(selector).WithSpec(
				core.PodSpec().WithRestartPolicy(corev1.RestartPolicyNever).WithContainers(container("report"))))))),
		policy.PodDisruptionBudget(name, namespace).WithLabels(labels).WithOwnerReferences(owner).WithSpec(policy.PodDisruptionBudgetSpec().WithMaxUnavailable(intstr.FromInt32(1)).WithSelector(pods())),
		networking.NetworkPolicy(name, namespace).WithLabels(labels).WithOwnerReferences(owner).WithSpec(networking.NetworkPolicySpec().WithPodSelector(pods()).WithPolicyTypes(networkingv1.PolicyTypeIngress).
			WithIngress(networking.NetworkPolicyIngressRule().WithFrom(networking.NetworkPolicyPeer().WithPodSelector(meta.LabelSelector())).
				WithPorts(networking.NetworkPolicyPort().WithProtocol(corev1.ProtocolTCP).WithPort(intstr.FromString("http"))))),
	}
}

// cachesSynced is ready once every informer has its first list.
func cachesSynced(manager ctrl.Manager) func(*http.Request) error {
	return func(request *http.Request) error {
		if !manager.GetCache().WaitForCacheSync(request.Context()) {
			return errors.New("caches are not yet full")
		}
		return nil
	}
}
