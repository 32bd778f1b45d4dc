//go:build unix

// Package subscriptions delivers completions reliably. A completion records that a session, command or job ended or
// that a program needs a user.
//
//	a record changes → the store adds a completion → watch finds newer ones → waiting readers; hooks
//
// A reader receives each completion at least once until it acknowledges it, and never afterwards. A hook runs as a job
// whose id derives from the completion's, so a restarted daemon finds the same job and the hook runs once. Cursors and
// completions are in the store; the wake-ups in memory are hints only. One goroutine watches the store, one runs per
// hook; the lock guards the set's maps.
package subscriptions

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/notify/webhook"
	"github.com/longterm-dev/longterm/store"
)

const (
	// maxSubscriptions bounds the number of subscriptions.
	maxSubscriptions = 256
	// unreadTime is the age at which an unread subscription without a hook is removed.
	unreadTime = 30 * 24 * time.Hour
	// seenInterval is the shortest interval between writes of when a subscription was last read.
	seenInterval = time.Hour

	defaultLimit = 100
)

// Runner runs a command as a job and returns its result. A repeated call with the same job id runs nothing twice. An
// error with Retry means that the outcome is open.
type Runner interface {
	RunHook(ctx context.Context, x api.Run) (api.Result, error)
}

// Set holds all subscriptions.
type Set struct {
	// Labels returns the labels of a known session and whether it outlives its command; optional. Set it before Start.
	Labels  func(session string) (labels map[string]string, lasting bool)
	Publish func(api.Event)     // Publish publishes the failure of a hook; optional. Set it before Start.
	Mask    func(string) string // Mask redacts secrets in posted text; optional. Set it before Start.
	// Post queues a notice for a webhook.
	Post func(webhook.Notice) error

	store *store.Store
	run   Runner
	log   *slog.Logger

	ctx    context.Context // ends when the daemon leaves
	stop   context.CancelFunc
	work   sync.WaitGroup
	signal chan struct{} // receives when the store has newer completions

	mu            sync.Mutex
	newer         chan struct{}     // closed when there are newer completions
	awaited       bool              // a reader may wait for newer
	readers       map[string]string // active reader, by uid
	hooks         map[string]*hook  // those that run, by uid
	hookApprovals map[string]bool   // IDs of approvals that hooks needed
}

// New returns the set of subscriptions in a store. Hooks run after Start.
func New(st *store.Store, run Runner, log *slog.Logger) *Set {
	s := &Set{
		store: st, run: run, log: log, signal: make(chan struct{}, 1), newer: make(chan struct{}),
		readers: map[string]string{}, hooks: map[string]*hook{}, hookApprovals: map[string]bool{},
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	st.OnChange = func() {
		select {
		case s.signal <- struct{}{}:
		default:
		}
	}
	return s
}

// Start starts the hooks and the notification of waiting readers.
func (s *Set) Start() error {
	ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
	defer cancel()
	if err := s.store.ForgetSubscriptions(ctx, time.Now().Add(-unreadTime)); err != nil {
		return err
	}
	all, err := s.store.Subscriptions(ctx)
	if err != nil {
		return err
	}
	s.work.Go(s.watch)
	for i := range all {
		s.startHook(&all[i])
	}
	return nil
}

// Close ends waits and hooks. Jobs of hooks continue; the next daemon finds them.
func (s *Set) Close() {
	s.stop()
	s.work.Wait()
}

// watch wakes waiting readers when newer completions exist.
func (s *Set) watch() {
	var seen uint64
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.signal:
		}
		s.mu.Lock()
		awaited := s.awaited
		s.mu.Unlock()
		if !awaited { // each write of the store is a signal
			continue
		}
		newest, err := s.store.NewestCompletion(s.ctx)
		if err != nil && s.ctx.Err() == nil {
			s.log.Error("look for completions", "err", err)
		}
		if err == nil && newest == seen {
			continue
		}
		seen = newest
		s.mu.Lock()
		close(s.newer)
		s.newer, s.awaited = make(chan struct{}), false
		s.mu.Unlock()
	}
}

// next returns a channel that is closed when the store gets newer completions.
func (s *Set) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.awaited = true
	return s.newer
}

// Put creates a subscription that starts now. An existing one stays as it is and must have the same settings.
func (s *Set) Put(ctx context.Context, name, session string, n api.NewSubscription) (api.Subscription, error) {
	if err := checkName(name); err != nil {
		return api.Subscription{}, err
	}
	kinds := slices.Clone(n.Kinds)
	slices.Sort(kinds)
	kinds = slices.Compact(kinds)
	all, err := s.store.Subscriptions(ctx)
	if err != nil {
		return api.Subscription{}, err
	}
	for i := range all {
		if all[i].Name != name {
			continue
		}
		if !slices.Equal(all[i].Kinds, kinds) || all[i].Session != session || all[i].Hook != n.Hook {
			return api.Subscription{}, api.Errorf(api.CodeNameTaken, "there is a subscription %q, of other things", name).
				WithHint("choose another name, or remove it with `longterm events rm %s`", name)
		}
		return s.view(ctx, &all[i])
	}
	if len(all) >= maxSubscriptions {
		return api.Subscription{}, api.Errorf(api.CodeLimit, "there are %d subscriptions, which is the limit", len(all)).
			WithHint("`longterm events ls` lists them; `longterm events rm` removes")
	}
	now := time.Now()
	made, err := s.store.Subscribe(ctx, store.Subscription{
		Name: name, UID: newUID(), Kinds: kinds, Session: session, Hook: n.Hook, Created: now, Seen: now,
	})
	if errors.Is(err, store.ErrSubscribed) { // another client created it first
		return s.Put(ctx, name, session, n)
	}
	if err != nil {
		return api.Subscription{}, err
	}
	s.startHook(&made)
	return s.view(ctx, &made)
}

// newUID returns an id that distinguishes subscriptions of the same name. It is part of the job ids.
func newUID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// maxName bounds a subscription's name, in bytes.
const maxName = 64

func checkName(name string) error {
	for _, r := range name {
		if r != '-' && r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return api.Errorf(api.CodeInvalid, "%q is no name of a subscription", name).WithHint("use letters, digits, - _ and .")
		}
	}
	if name == "" || len(name) > maxName {
		return api.Errorf(api.CodeInvalid, "a subscription's name has 1 to %d characters", maxName)
	}
	return nil
}

// List lists all subscriptions, by name.
func (s *Set) List(ctx context.Context) ([]api.Subscription, error) {
	all, err := s.store.Subscriptions(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]api.Subscription, len(all))
	for i := range all {
		if list[i], err = s.view(ctx, &all[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Remove deletes a subscription. The running job of its hook continues.
func (s *Set) Remove(ctx context.Context, name string) error {
	if isConfigured(name) {
		return api.Errorf(api.CodeInvalid, "%s is a hook of the configuration", name).
			WithHint("remove it there: `longterm config edit`")
	}
	return s.remove(ctx, name)
}

// rejectConfigured rejects acknowledgements for a configured hook, which would skip pending runs.
func rejectConfigured(name string) error {
	if !isConfigured(name) {
		return nil
	}
	return api.Errorf(api.CodeInvalid, "%s is a hook of the configuration, which acknowledges what it was run for", name).
		WithHint("read it without acknowledging, or make a subscription of your own")
}

func (s *Set) remove(ctx context.Context, name string) error {
	sub, err := s.get(ctx, name)
	if err != nil {
		return err
	}
	if err := s.store.Unsubscribe(ctx, name); err != nil {
		return noSubscription(name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.hooks[sub.UID]; h != nil {
		h.stop()
	}
	delete(s.hooks, sub.UID)
	delete(s.readers, sub.UID)
	close(s.newer) // waiting readers find it removed
	s.newer = make(chan struct{})
	return nil
}

func (s *Set) get(ctx context.Context, name string) (store.Subscription, error) {
	sub, err := s.store.Subscription(ctx, name)
	return sub, noSubscription(name, err)
}

func noSubscription(name string, err error) error {
	if errors.Is(err, store.ErrNoSubscription) {
		return api.Errorf(api.CodeNotFound, "no subscription %q", name).
			WithHint("create it with `longterm events --subscription %s`; it starts with the next completion", name)
	}
	return err
}

// Read returns unacknowledged completions, after waiting for some up to the given time.
func (s *Set) Read(ctx context.Context, name string, in api.ReadCompletions) (api.Completions, error) {
	if in.Ack > 0 {
		if err := rejectConfigured(name); err != nil {
			return api.Completions{}, err
		}
	}
	sub, err := s.get(ctx, name)
	if err != nil {
		return api.Completions{}, err
	}
	if err := s.readAs(&sub, in.Reader, in.Take); err != nil {
		return api.Completions{}, err
	}
	if in.Ack > sub.Cursor || time.Since(sub.Seen) > seenInterval {
		if err := s.acknowledge(ctx, &sub, in.Ack, 0); err != nil {
			return api.Completions{}, err
		}
	}
	if in.Limit == 0 {
		in.Limit = defaultLimit
	}
	var over <-chan time.Time
	if in.WaitMS > 0 {
		t := time.NewTimer(time.Duration(in.WaitMS) * time.Millisecond)
		defer t.Stop()
		over = t.C
	}
	out := api.Completions{Completions: []api.Completion{}, Cursor: sub.Cursor}
	for after := max(sub.Cursor, in.After); ; after = out.Cursor {
		grown := s.next() // before it is looked
		if _, err := s.get(ctx, name); err != nil {
			return out, err
		}
		if err := s.readAs(&sub, in.Reader, false); err != nil {
			return out, err
		}
		list, lost, upTo, err := s.store.Completions(ctx, &sub, after, in.Limit)
		if err != nil {
			return out, err
		}
		out.Cursor, out.Lost = upTo, max(out.Lost, lost)
		for i := range list {
			out.Completions = append(out.Completions, view(&list[i]))
		}
		out.More = len(list) == in.Limit
		if len(list) > 0 || out.Lost > 0 || over == nil {
			return out, nil
		}
		select {
		case <-grown:
		case <-over:
			return out, nil
		case <-ctx.Done():
			return out, ctx.Err()
		case <-s.ctx.Done():
			return out, api.Errorf(api.CodeUnavailable, "the daemon is being replaced").WithHint("ask again").Retryable()
		}
	}
}

// readAs makes reader the active one of a subscription, unless another reader is active and take is false.
func (s *Set) readAs(sub *store.Subscription, reader string, take bool) error {
	if reader == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch now := s.readers[sub.UID]; {
	case now == reader:
	case now == "" || take:
		s.readers[sub.UID] = reader
		if now != "" {
			close(s.newer) // rejects the previous reader at once
			s.newer = make(chan struct{})
		}
	default:
		return api.Errorf(api.CodeStale, "another reader has taken the subscription %q", sub.Name).
			WithHint("read with another subscription, or take this one again")
	}
	return nil
}

// Ack acknowledges completions up to a cursor.
func (s *Set) Ack(ctx context.Context, name string, in api.AckCompletions) (api.Subscription, error) {
	if err := rejectConfigured(name); err != nil {
		return api.Subscription{}, err
	}
	sub, err := s.get(ctx, name)
	if err == nil {
		err = s.readAs(&sub, in.Reader, false)
	}
	if err == nil {
		err = s.acknowledge(ctx, &sub, in.Cursor, 0)
	}
	if err != nil {
		return api.Subscription{}, err
	}
	return s.view(ctx, &sub)
}

// acknowledge moves the cursor in the store, and in sub.
func (s *Set) acknowledge(ctx context.Context, sub *store.Subscription, cursor uint64, failed int) error {
	if err := s.store.Acknowledge(ctx, sub, cursor, failed, time.Now()); err != nil {
		return noSubscription(sub.Name, err)
	}
	now, err := s.get(ctx, sub.Name)
	if err == nil && now.UID == sub.UID { // a configured hook has no cursor in the store
		sub.Cursor, sub.Failed, sub.Seen = now.Cursor, now.Failed, now.Seen
	}
	return err
}

func (s *Set) view(ctx context.Context, sub *store.Subscription) (api.Subscription, error) {
	newest, err := s.store.NewestCompletion(ctx)
	v := api.Subscription{
		Name: sub.Name, Kinds: sub.Kinds, Session: sub.Session, Hook: sub.Hook, Cursor: sub.Cursor, Newest: newest,
		Failed: sub.Failed, Created: sub.Created, Seen: sub.Seen,
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.hooks[sub.UID]; h != nil {
		v.Skipped, v.Failure = h.skipped, h.failure
		if h.conf != nil {
			v.Kinds, v.Hook = slices.Clone(h.conf.On), actionText(h.conf)
		}
	}
	return v, err
}

// view converts a completion to its API form.
func view(c *store.Completion) api.Completion {
	v := api.Completion{
		Seq: c.Seq, Kind: c.Kind, Session: c.Session, Name: c.Name, State: c.State, ExitCode: c.ExitCode, Signal: c.Signal,
		Text: c.Text, At: c.At,
	}
	switch c.Kind {
	case store.CompletionJob:
		v.Job = c.Ref
	case store.CompletionCommand:
		v.Command, _ = strconv.Atoi(c.Ref) // a number, by the store
	case store.CompletionApproval:
		v.Approval = c.Ref
	}
	return v
}

// hookJobID returns the id of the job that runs a subscription's hook for a completion.
func hookJobID(sub *store.Subscription, seq uint64) string {
	return fmt.Sprintf("hook-%s-%d", sub.UID, seq)
}
