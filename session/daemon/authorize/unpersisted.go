package authorize

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"

	"github.com/longterm-dev/longterm/session/internal/retryqueue"
	"github.com/longterm-dev/longterm/store"
)

// A user's rejection or revocation counts even if the disk does not accept it, so nothing runs because the disk is
// full. It is stored once the disk has room; until then it is read from here.

// unpersistedApprovals wraps a store and queues the approvals whose write failed, for a retry.
type unpersistedApprovals struct {
	Store
	log *slog.Logger
	set retryqueue.Set[recordKey, store.Approval]
}

// recordKey identifies a queued write.
type recordKey struct {
	n     int64
	grant bool // removal of grant n; else the record of approval n
}

// storeOrRetry stores a record now, or queues it and returns false.
func (u *unpersistedApprovals) storeOrRetry(ctx context.Context, a store.Approval) bool {
	err := u.PutApproval(ctx, a, "")
	if err == nil {
		return true
	}
	u.log.Error("record an approval that is over; it is tried again", "approval", idOf(a.N), "err", err)
	u.enqueue(recordKey{n: a.N}, a)
	return false
}

// removeGrant removes a grant now, or queues that. It returns the error of the first attempt, or ErrNoGrant.
func (u *unpersistedApprovals) removeGrant(ctx context.Context, n int64) error {
	err := u.DeleteGrant(ctx, n)
	if err == nil || errors.Is(err, store.ErrNoGrant) {
		return err
	}
	u.enqueue(recordKey{n, true}, store.Approval{})
	return err
}

// enqueue queues a write that failed.
func (u *unpersistedApprovals) enqueue(of recordKey, a store.Approval) {
	if _, begin := u.set.Add(of, a); begin {
		go u.set.RetryLoop(u.retry)
	}
}

// retry performs the queued writes, oldest first, until one fails.
func (u *unpersistedApprovals) retry() {
	ctx, cancel := context.WithTimeout(context.Background(), retryqueue.RetryInterval)
	defer cancel()
	all := u.set.All()
	oldest := func(a, b recordKey) int { return cmp.Compare(a.n, b.n) }
	for _, of := range slices.SortedFunc(maps.Keys(all), oldest) {
		if u.write(ctx, of, all[of]) != nil {
			return
		}
	}
}

// write performs a queued write.
func (u *unpersistedApprovals) write(ctx context.Context, of recordKey, a store.Approval) error {
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

// flush retries the queued writes a last time, before the daemon ends.
func (u *unpersistedApprovals) flush() {
	u.set.Stop()
	u.retry()
}

// newest returns the queued state of an approval, or a, the store's, if none is queued.
func (u *unpersistedApprovals) newest(a store.Approval) store.Approval {
	if newer, there := u.set.Get(recordKey{n: a.N}); there {
		return newer
	}
	return a
}

// PutApproval implements Store.
func (u *unpersistedApprovals) PutApproval(ctx context.Context, a store.Approval, asking string) error {
	err := u.Store.PutApproval(ctx, a, asking)
	if err == nil {
		u.set.Drop(recordKey{n: a.N})
	}
	return err
}

// Approval implements Store.
func (u *unpersistedApprovals) Approval(ctx context.Context, n int64) (store.Approval, error) {
	a, err := u.Store.Approval(ctx, n)
	return u.newest(a), err
}

// ApprovalOf implements Store.
func (u *unpersistedApprovals) ApprovalOf(ctx context.Context, asking string) (store.Approval, error) {
	a, err := u.Store.ApprovalOf(ctx, asking)
	return u.newest(a), err
}

// Approvals implements Store.
func (u *unpersistedApprovals) Approvals(ctx context.Context, q store.ApprovalQuery) ([]store.Approval, error) {
	all, err := u.Store.Approvals(ctx, q)
	for i := range all {
		all[i] = u.newest(all[i])
	}
	return all, err
}
