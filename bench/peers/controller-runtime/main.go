// The benchmark's operator as one writes it with controller-runtime: typed objects, Owns() on every kind,
// server-side apply of every child in every pass, and a status write only where the status changes.
package main

import (
	"context"
	"flag"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const fieldManager = "bench-controller-runtime"

type reconciler struct{ client.Client }

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var shop Shop
	if err := r.Get(ctx, request.NamespacedName, &shop); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	for _, child := range childrenOf(&shop) {
		if err := r.Apply(ctx, child, client.FieldOwner(fieldManager), client.ForceOwnership); err != nil {
			return ctrl.Result{}, err
		}
	}
	before := shop.DeepCopy()
	shop.Status.ObservedGeneration = shop.Generation
	changed := apimeta.SetStatusCondition(&shop.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Ready", Message: "all children are applied", ObservedGeneration: shop.Generation,
	})
	if !changed && before.Status.ObservedGeneration == shop.Generation {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, r.Status().Patch(ctx, &shop, client.MergeFrom(before), client.FieldOwner(fieldManager))
}

func main() {
	namespace := flag.String("namespace", "", "the namespace to look after")
	workers := flag.Int("workers", 10, "how many objects are worked on at once")
	health := flag.String("health", "0", "address of /readyz")
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseDevMode(false)))

	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(addShop(scheme))

	config := ctrl.GetConfigOrDie()
	config.QPS = -1 // The API server's own fairness limits us; the client's limiter would only slow this peer down.
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                 scheme,
		Cache:                  cache.Options{DefaultNamespaces: map[string]cache.Config{*namespace: {}}},
		Metrics:                server.Options{BindAddress: "0"},
		HealthProbeBindAddress: *health,
	})
	exitOn(err)
	exitOn(manager.AddReadyzCheck("caches", healthz.Checker(cachesSynced(manager))))
	exitOn(ctrl.NewControllerManagedBy(manager).
		For(&Shop{}).
		Owns(&corev1.Secret{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&corev1.Service{}).
		Owns(&appsv1.StatefulSet{}).
		Owns(&batchv1.CronJob{}).
		Owns(&policyv1.PodDisruptionBudget{}).
		Owns(&networkingv1.NetworkPolicy{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: *workers}).
		Complete(&reconciler{manager.GetClient()}))
	exitOn(manager.Start(ctrl.SetupSignalHandler()))
}

func exitOn(err error) {
	if err == nil {
		return
	}
	ctrl.Log.Error(err, "cannot run")
	os.Exit(1)
}
