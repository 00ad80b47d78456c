package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	core "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
)

const (
	provisioner          = "dbop.dev/test-volumes"
	provisionedBy        = "pv.kubernetes.io/provisioned-by"
	selectedNode         = "volume.kubernetes.io/selected-node"
	wantedProvisioner    = "volume.kubernetes.io/storage-provisioner"
	wantedProvisionerOld = "volume.beta.kubernetes.io/storage-provisioner"
)

// storage turns claims into folders and folders back into nothing.
type storage struct {
	client     kubernetes.Interface
	claims     corelisters.PersistentVolumeClaimLister
	volumes    corelisters.PersistentVolumeLister
	classes    storagelisters.StorageClassLister
	folder     string
	nodeFolder string
}

// claim provisions a volume for a claim that waits for one, or expands the
// volume of a claim that has grown.
func (s *storage) claim(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	claim, err := s.claims.PersistentVolumeClaims(namespace).Get(name)
	if errors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if claim.Annotations[wantedProvisioner] != provisioner && claim.Annotations[wantedProvisionerOld] != provisioner {
		return nil
	}
	if claim.Spec.VolumeName == "" {
		return s.provision(ctx, claim)
	}
	return s.expand(ctx, claim)
}

func (s *storage) provision(ctx context.Context, claim *core.PersistentVolumeClaim) error {
	if claim.DeletionTimestamp != nil || claim.Spec.StorageClassName == nil {
		return nil
	}
	class, err := s.classes.Get(*claim.Spec.StorageClassName)
	if err != nil {
		return err
	}
	waits := class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
	if waits && claim.Annotations[selectedNode] == "" {
		return nil
	}
	// The name follows from the claim, so that a second attempt meets the first one's volume.
	name := "pvc-" + string(claim.UID)
	if err := os.MkdirAll(filepath.Join(s.folder, name), 0o777); err != nil {
		return err
	}
	// MkdirAll's mode is cut by the umask. Pods run as users of their own.
	if err := os.Chmod(filepath.Join(s.folder, name), 0o777); err != nil {
		return err
	}
	_, err = s.client.CoreV1().PersistentVolumes().Create(ctx, s.volumeFor(name, claim, class), meta.CreateOptions{})
	if errors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (s *storage) volumeFor(name string, claim *core.PersistentVolumeClaim, class *storagev1.StorageClass) *core.PersistentVolume {
	policy := core.PersistentVolumeReclaimDelete
	if class.ReclaimPolicy != nil {
		policy = *class.ReclaimPolicy
	}
	mode := core.PersistentVolumeFilesystem
	return &core.PersistentVolume{
		ObjectMeta: meta.ObjectMeta{Name: name, Annotations: map[string]string{provisionedBy: provisioner}},
		Spec: core.PersistentVolumeSpec{
			Capacity:                      core.ResourceList{core.ResourceStorage: claim.Spec.Resources.Requests[core.ResourceStorage]},
			AccessModes:                   claim.Spec.AccessModes,
			PersistentVolumeReclaimPolicy: policy,
			StorageClassName:              class.Name,
			VolumeMode:                    &mode,
			ClaimRef: &core.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			// A local volume, because the kubelet gives those to the pod's fsGroup as it does with real
			// disks, and leaves hostPath alone.
			PersistentVolumeSource: core.PersistentVolumeSource{Local: &core.LocalVolumeSource{Path: filepath.Join(s.nodeFolder, name)}},
			NodeAffinity:           everyNode(),
		},
	}
}

// everyNode satisfies the rule that a local volume names its nodes: the folder is seen by all of them.
func everyNode() *core.VolumeNodeAffinity {
	linux := core.NodeSelectorRequirement{Key: "kubernetes.io/os", Operator: core.NodeSelectorOpIn, Values: []string{"linux"}}
	return &core.VolumeNodeAffinity{Required: &core.NodeSelector{
		NodeSelectorTerms: []core.NodeSelectorTerm{{MatchExpressions: []core.NodeSelectorRequirement{linux}}},
	}}
}

// expand does what a CSI resizer does: first the volume, then the claim's status.
func (s *storage) expand(ctx context.Context, claim *core.PersistentVolumeClaim) error {
	wanted := claim.Spec.Resources.Requests[core.ResourceStorage]
	if claim.Status.Phase != core.ClaimBound || wanted.Cmp(claim.Status.Capacity[core.ResourceStorage]) <= 0 {
		return nil
	}
	volume, err := s.volumes.Get(claim.Spec.VolumeName)
	if err != nil || volume.Annotations[provisionedBy] != provisioner {
		return err
	}
	if wanted.Cmp(volume.Spec.Capacity[core.ResourceStorage]) > 0 {
		volume = volume.DeepCopy()
		volume.Spec.Capacity[core.ResourceStorage] = wanted
		if _, err := s.client.CoreV1().PersistentVolumes().Update(ctx, volume, meta.UpdateOptions{}); err != nil {
			return err
		}
	}
	claim = claim.DeepCopy()
	claim.Status.Capacity[core.ResourceStorage] = wanted
	claim.Status.Conditions = nil
	_, err = s.client.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, claim, meta.UpdateOptions{})
	return err
}

// volume removes a released volume whose policy asks for it, the folder first:
// as long as the object is there, somebody tries again.
func (s *storage) volume(ctx context.Context, key string) error {
	volume, err := s.volumes.Get(key)
	if errors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if volume.Annotations[provisionedBy] != provisioner || volume.Status.Phase != core.VolumeReleased ||
		volume.Spec.PersistentVolumeReclaimPolicy != core.PersistentVolumeReclaimDelete {
		return nil
	}
	if err := os.RemoveAll(filepath.Join(s.folder, volume.Name)); err != nil {
		return fmt.Errorf("cannot remove the folder: %w", err)
	}
	err = s.client.CoreV1().PersistentVolumes().Delete(ctx, volume.Name, meta.DeleteOptions{Preconditions: &meta.Preconditions{UID: &volume.UID}})
	if errors.IsNotFound(err) {
		return nil
	}
	return err
}
