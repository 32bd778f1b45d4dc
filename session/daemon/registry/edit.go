//go:build unix

package registry

import (
	"maps"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/store"
)

// Edit changes name and labels, all or nothing: changes that cannot be recorded are rejected.
func (h *Registry) Edit(e *Handle, edit api.Edit) error {
	if err := spawn.CheckLabels(edit.Labels); err != nil {
		return err
	}
	if edit.Name != nil {
		if err := spawn.CheckName(*edit.Name); err != nil {
			return err
		}
		if *edit.Name != e.Record().Name {
			h.freeName(*edit.Name)
		}
	}
	e.saving.Lock()
	defer e.saving.Unlock()
	was := e.Record()
	name := was.Name
	if edit.Name != nil {
		name = *edit.Name
		if err := h.takeName(e, name); err != nil {
			return err
		}
	}
	_, err := h.putLocked(e, func(r *store.Session) { r.Name, r.Labels = name, mergeLabels(r.Labels, edit.Labels) })
	if err == nil {
		h.dropName(e, was.Name)
		return nil
	}
	e.mu.Lock()
	e.rec.Name, e.rec.Labels = was.Name, was.Labels
	e.mu.Unlock()
	h.dropName(e, name)
	return spawn.StorageError(err, h.dirs.State)
}

// mergeLabels returns a copy of labels with changes applied; an empty value removes a label. Readers may hold the old
// map.
func mergeLabels(old, changes map[string]string) map[string]string {
	labels := maps.Clone(old)
	if labels == nil {
		labels = map[string]string{}
	}
	for k, v := range changes {
		if labels[k] = v; v == "" {
			delete(labels, k)
		}
	}
	return labels
}

// takeName gives a session another name in addition to its own.
func (h *Registry) takeName(e *Handle, name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.takenLocked(name, e) {
		return nameTaken(name)
	}
	h.byname[name] = e
	return nil
}

// dropName removes a former name of a session.
func (h *Registry) dropName(e *Handle, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byname[name] == e && e.Record().Name != name {
		delete(h.byname, name)
	}
}
