package gateway

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"

	"github.com/longterm-dev/longterm/session/internal/unwritten"
	"github.com/longterm-dev/longterm/store"
)

// A person's no counts whether or not the disk takes it, and so does what he takes back: nothing is run for want of room. It is
// written down once there is some, and those who look before that find it here.

// unkept is a store, and the records of approvals that it has not taken yet.
type unkept struct {
	Store
	log *slog.Logger
	set unwritten.Set[ofApproval, store.Approval]
}

// ofApproval is what is not written of one.
type ofApproval struct {
	n     int64
	grant bool // taken back; else its record
}

// later writes a record now or later; false: not now.
func (u *unkept) later(ctx context.Context, a store.Approval) bool {
	err := u.PutApproval(ctx, a, "")
	if err == nil {
		return true
	}
	u.log.Error("record an approval that is over; it is tried again", "approval", idOf(a.N), "err", err)
	u.keep(ofApproval{n: a.N}, a)
	return false
}

// takeBack forgets a grant that does not count any more now or later: an error is why it is not now, or ErrNoGrant.
func (u *unkept) takeBack(ctx context.Context, n int64) error {
	err := u.DeleteGrant(ctx, n)
	if err == nil || errors.Is(err, store.ErrNoGrant) {
		return err
	}
	u.keep(ofApproval{n, true}, store.Approval{})
	return err
}

func (u *unkept) keep(of ofApproval, a store.Approval) {
	if _, begin := u.set.Note(of, a); begin {
		go u.set.Again(u.try)
	}
}

// try tries what was not taken, oldest first, none after one that is refused.
func (u *unkept) try() {
	ctx, cancel := context.WithTimeout(context.Background(), unwritten.Every)
	defer cancel()
	all := u.set.All()
	oldest := func(a, b ofApproval) int { return cmp.Compare(a.n, b.n) }
	for _, of := range slices.SortedFunc(maps.Keys(all), oldest) {
		if u.write(ctx, of, all[of]) != nil {
			return
		}
	}
}

// write brings up to date what was not taken of an approval.
func (u *unkept) write(ctx context.Context, of ofApproval, a store.Approval) error {
	if !of.grant {
		return u.PutApproval(ctx, a, "")
	}
	err := u.DeleteGrant(ctx, of.n)
	if err == nil || errors.Is(err, store.ErrNoGrant) {
		u.set.Drop(of)
		return nil
	}
	return err
}

// leave tries it a last time: the daemon ends.
func (u *unkept) leave() {
	u.set.Leave()
	u.try()
}

// instead is what is known of an approval, whatever the store has.
func (u *unkept) instead(a store.Approval) store.Approval {
	if newer, there := u.set.Get(ofApproval{n: a.N}); there {
		return newer
	}
	return a
}

// PutApproval implements Store.
func (u *unkept) PutApproval(ctx context.Context, a store.Approval, asking string) error {
	err := u.Store.PutApproval(ctx, a, asking)
	if err == nil {
		u.set.Drop(ofApproval{n: a.N})
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
