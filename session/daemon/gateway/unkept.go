package gateway

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/store"
)

// A person's no counts whether or not the disk takes it, and so does what he takes back: nothing is run for want of room. It is
// written down once there is some, and those who look before that find it here.

// keepAgain is how long it takes until such a record is tried again.
const keepAgain = 5 * time.Second

// unkept is a store, and the records of approvals that it has not taken yet.
type unkept struct {
	Store
	log *slog.Logger

	mu     sync.Mutex
	rows   map[int64]store.Approval
	grants map[int64]bool // taken back
	trying bool           // it is tried again some time
	left   bool           // the daemon ends
}

// later writes a record now or later; false: not now.
func (u *unkept) later(ctx context.Context, a store.Approval) bool {
	err := u.PutApproval(ctx, a, "")
	if err == nil {
		return true
	}
	u.log.Error("record an approval that is over; it is tried again", "approval", idOf(a.N), "err", err)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.rows == nil {
		u.rows = map[int64]store.Approval{}
	}
	u.rows[a.N] = a
	u.againLocked()
	return false
}

// takeBack forgets a grant that does not count any more now or later: an error is why it is not now, or ErrNoGrant.
func (u *unkept) takeBack(ctx context.Context, n int64) error {
	err := u.DeleteGrant(ctx, n)
	if err == nil || errors.Is(err, store.ErrNoGrant) {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.grants == nil {
		u.grants = map[int64]bool{}
	}
	u.grants[n] = true
	u.againLocked()
	return err
}

func (u *unkept) againLocked() {
	if len(u.rows)+len(u.grants) > 0 && !u.trying && !u.left {
		u.trying = true
		time.AfterFunc(keepAgain, u.again)
	}
}

// again tries what was not taken, oldest first, none after one that is refused.
func (u *unkept) again() {
	u.try()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.trying = false
	u.againLocked()
}

func (u *unkept) try() {
	ctx, cancel := context.WithTimeout(context.Background(), keepAgain)
	defer cancel()
	u.mu.Lock()
	rows, grants := maps.Clone(u.rows), maps.Clone(u.grants)
	u.mu.Unlock()
	for _, n := range slices.Sorted(maps.Keys(rows)) {
		if u.PutApproval(ctx, rows[n], "") != nil {
			return
		}
	}
	for n := range grants {
		if err := u.DeleteGrant(ctx, n); err != nil && !errors.Is(err, store.ErrNoGrant) {
			return
		}
		u.mu.Lock()
		delete(u.grants, n)
		u.mu.Unlock()
	}
}

// leave tries it a last time: the daemon ends.
func (u *unkept) leave() {
	u.mu.Lock()
	u.left = true
	u.mu.Unlock()
	u.try()
}

// instead is what is known of an approval, whatever the store has.
func (u *unkept) instead(a store.Approval) store.Approval {
	u.mu.Lock()
	defer u.mu.Unlock()
	if newer, there := u.rows[a.N]; there {
		return newer
	}
	return a
}

// PutApproval implements Store.
func (u *unkept) PutApproval(ctx context.Context, a store.Approval, asking string) error {
	err := u.Store.PutApproval(ctx, a, asking)
	if err == nil {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.rows, a.N)
	}
	return err
}

// Approval implements Store.
func (u *unkept) Approval(ctx context.Context, n int64) (store.Approval, error) {
	a, err := u.Store.Approval(ctx, n)
	return u.instead(a), err
}

// ApprovalOf implements Store.
func (u *unkept) ApprovalOf(ctx context.Context, asking string) (store.Approval, error) {
	a, err := u.Store.ApprovalOf(ctx, asking)
	return u.instead(a), err
}

// Approvals implements Store.
func (u *unkept) Approvals(ctx context.Context, q store.ApprovalQuery) ([]store.Approval, error) {
	all, err := u.Store.Approvals(ctx, q)
	for i := range all {
		all[i] = u.instead(all[i])
	}
	return all, err
}
