//go:build unix

package viewsource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/inboxlist"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/session/api"
)

// entryTime limits the reading of a host's inbox: a slow host does not delay the others' for longer.
const entryTime = 3 * time.Second

// Entries returns the inboxes of all hosts as one list. If hosts cannot be reached, it returns those of the others and
// an error.
func (m multiHostSource) Entries(ctx context.Context) ([]model.InboxEntry, error) {
	ctx, cancel := context.WithTimeout(ctx, entryTime)
	defer cancel()
	lists, errs := make([][]api.InboxItem, len(m)), make([]error, len(m))
	var asked sync.WaitGroup
	for i := range m {
		asked.Go(func() {
			lists[i], errs[i] = m[i].c.Inbox(ctx, false)
			if errs[i] != nil && m[i].prefix != "" {
				errs[i] = fmt.Errorf("%s: %w", m[i].prefix, errs[i])
			}
		})
	}
	asked.Wait()
	return m.joinEntries(lists), errors.Join(errs...)
}

// joinEntries joins the entries of hosts in the order of one list, with the viewer's ids and names.
func (m multiHostSource) joinEntries(lists [][]api.InboxItem) []model.InboxEntry {
	var all []api.InboxItem
	for i := range m {
		for _, it := range lists[i] {
			it.Host, it.ID, it.Session, it.Name = m[i].host, m[i].qualify(it.ID), m[i].qualify(it.Session), m[i].qualify(it.Name)
			all = append(all, it)
		}
	}
	inboxlist.Join(all)
	entries := make([]model.InboxEntry, len(all))
	for i := range all {
		entries[i] = viewEntry(&all[i])
	}
	return entries
}

func viewEntry(it *api.InboxItem) model.InboxEntry {
	e := model.InboxEntry{
		ID: it.ID, Kind: it.Kind, Session: it.Session, Name: cmp.Or(it.Name, "-"), Text: it.Text, Since: it.Since,
		Answerable: it.Kind == api.InboxQuestion && it.Answerable,
	}
	if len(it.Do) > 0 {
		e.Command = it.Do[0]
	}
	return e
}

// AnswerEntry answers a question of the inbox.
func (m multiHostSource) AnswerEntry(ctx context.Context, id, text string) error {
	h, id := m.hostOf(id)
	_, err := h.c.AnswerInbox(ctx, id, api.InboxAnswer{Answer: text})
	return err
}

// MarkDone marks an entry of the inbox as done.
func (m multiHostSource) MarkDone(ctx context.Context, id string) error {
	h, id := m.hostOf(id)
	_, err := h.c.MarkDone(ctx, id)
	return err
}

// Snooze hides an entry of the inbox for a time.
func (m multiHostSource) Snooze(ctx context.Context, id string, d time.Duration) error {
	h, id := m.hostOf(id)
	_, err := h.c.Snooze(ctx, id, d)
	return err
}
