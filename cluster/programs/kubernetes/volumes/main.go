// Command volumes gives the test cluster its storage: each claim of our
// provisioner becomes a folder that every node sees, as network storage would be.
//
// It stands in for a CSI driver. It provisions, deletes and expands; a folder has
// no limit, so expansion is only the bookkeeping that a CSI resizer does.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

// resync repeats every decision, so that a failed attempt is made again even
// when nothing changes.
const resync = 10 * time.Second

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the API server")
	folder := flag.String("folder", "", "where volumes are made on this machine")
	nodeFolder := flag.String("node-folder", "", "where nodes see that folder")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *kubeconfig, *folder, *nodeFolder); err != nil {
		fmt.Fprintln(os.Stderr, "volumes:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig, folder, nodeFolder string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 200, 400
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, resync)
	storage := &storage{
		client:     client,
		claims:     factory.Core().V1().PersistentVolumeClaims().Lister(),
		volumes:    factory.Core().V1().PersistentVolumes().Lister(),
		classes:    factory.Storage().V1().StorageClasses().Lister(),
		folder:     filepath.Clean(folder),
		nodeFolder: filepath.Clean(nodeFolder),
	}
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[work]())
	watch(factory.Core().V1().PersistentVolumeClaims().Informer(), queue, storage.claim)
	watch(factory.Core().V1().PersistentVolumes().Informer(), queue, storage.volume)
	factory.Storage().V1().StorageClasses().Informer()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	context.AfterFunc(ctx, queue.ShutDown)
	for next(ctx, queue) {
	}
	return nil
}

// work is one object to look at, and the way to look at it.
type work struct {
	key  string
	look *func(context.Context, string) error
}

func watch(informer cache.SharedIndexInformer, queue workqueue.TypedRateLimitingInterface[work], look func(context.Context, string) error) {
	add := func(object any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
			queue.Add(work{key: key, look: &look})
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(_, object any) { add(object) },
		DeleteFunc: add,
	})
	if err != nil {
		log.Fatalf("cannot watch: %v", err)
	}
}

func next(ctx context.Context, queue workqueue.TypedRateLimitingInterface[work]) bool {
	item, shutdown := queue.Get()
	if shutdown {
		return false
	}
	defer queue.Done(item)
	if err := (*item.look)(ctx, item.key); err != nil {
		log.Printf("%s: %v; trying again", item.key, err)
		queue.AddRateLimited(item)
		return true
	}
	queue.Forget(item)
	return true
}
