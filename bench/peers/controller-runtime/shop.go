package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var shopVersion = schema.GroupVersion{Group: "bench.dbop.dev", Version: "v1"}

// Shop is the benchmark's kind; see bench/shop.ts.
type Shop struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ShopSpec   `json:"spec"`
	Status            ShopStatus `json:"status,omitempty"`
}

type ShopSpec struct {
	Version string `json:"version"`
}

type ShopStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type ShopList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Shop `json:"items"`
}

func (s *Shop) DeepCopy() *Shop {
	out := &Shop{TypeMeta: s.TypeMeta, Spec: s.Spec}
	s.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.ObservedGeneration = s.Status.ObservedGeneration
	for _, condition := range s.Status.Conditions {
		out.Status.Conditions = append(out.Status.Conditions, *condition.DeepCopy())
	}
	return out
}

func (s *Shop) DeepCopyObject() runtime.Object { return s.DeepCopy() }

func (l *ShopList) DeepCopyObject() runtime.Object {
	out := &ShopList{TypeMeta: l.TypeMeta}
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopy())
	}
	return out
}

func addShop(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(shopVersion, &Shop{}, &ShopList{})
	metav1.AddToGroupVersion(scheme, shopVersion)
	return nil
}
