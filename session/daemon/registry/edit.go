//go:build unix

package registry

import (
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/store"
)

// Edit changes name and labels, all or nothing.
func (h *Registry) Edit(e *Handle, edit api.Edit) error {
	if err := spawn.CheckLabels(edit.Labels); err != nil {
		return err
	}
	if edit.Name != nil {
		if err := spawn.CheckName(*edit.Name); err != nil {
			return err
		}
		if err := h.rename(e, *edit.Name); err != nil {
			return err
		}
	}
	h.Save(e, func(r *store.Session) {
		labels := map[string]string{} // a copy: others may hold the old one
		for k, v := range r.Labels {
			labels[k] = v
		}
		for k, v := range edit.Labels {
			if v == "" {
				delete(labels, k)
			} else {
				labels[k] = v
			}
		}
		r.Labels = labels
	})
	return nil
}

func (h *Registry) rename(e *Handle, name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byname[name] == e {
		return nil
	}
	if h.takenLocked(name, e) {
		return nameTaken(name)
	}
	delete(h.byname, e.rec.Name)
	h.byname[name] = e
	e.mu.Lock()
	e.rec.Name = name
	e.mu.Unlock()
	return nil
}
