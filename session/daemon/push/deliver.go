//go:build unix

package push

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/SherClockHolmes/webpush-go"
	"golang.org/x/time/rate"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/notify/webhook"
)

const (
	// settleTime is the time from an event to the pass: several events come together.
	settleTime = time.Second
	// maxMessages bounds the messages that a subscription receives at once; more entries become one message.
	maxMessages = 10
	// refill is the time after which one more message may be sent.
	refill = 6 * time.Second
	// firstBackoff and maxBackoff bound the pause after a failed attempt, which doubles each time.
	firstBackoff = 10 * time.Second
	maxBackoff   = 30 * time.Minute
	// messageTTL is how long a push service keeps a message for a browser that is offline.
	messageTTL = 24 * time.Hour
	// listTime bounds the reading of the inbox.
	listTime = 10 * time.Second
)

// vapidSubject is the contact that push services require.
const vapidSubject = "https://github.com/longterm-dev/longterm"

// isNews reports whether an event may add an entry to the inbox.
func isNews(kind string) bool {
	switch kind {
	case "inbox", "approval", "state", "command", "job", "agent", "input", "lost":
		return true
	}
	return false
}

// Follow sends entries of the inbox when events report news, and those that an earlier daemon left. view limits them to
// what a login may see. stop ends that and waits.
func (s *Set) Follow(events <-chan api.Event, view Viewer) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { s.follow(ctx, events, view, &wg) })
	return func() { cancel(); wg.Wait() }
}

func (s *Set) follow(ctx context.Context, events <-chan api.Event, view Viewer, wg *sync.WaitGroup) {
	next := time.Now() // of the next pass; zero: none is due
	timer := time.NewTimer(0)
	defer timer.Stop()
	set := func(at time.Time) {
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
			timer.Reset(time.Until(at))
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-events:
			if !ok { // the daemon ends
				events = nil
			} else if isNews(e.Kind) && s.hasSubscriptions() {
				set(time.Now().Add(settleTime))
			}
		case <-s.wake:
			set(time.Now())
		case <-timer.C:
			next = time.Time{}
			set(s.pass(ctx, view, wg))
		}
	}
}

func (s *Set) hasSubscriptions() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.load()
	return err == nil && len(v.Subscriptions) > 0
}

// pass starts sending to each subscription what it has not received. It returns when the next pass is due; zero: after
// an event.
func (s *Set) pass(ctx context.Context, view Viewer, wg *sync.WaitGroup) (next time.Time) {
	s.Sweep()
	if !s.hasSubscriptions() {
		return time.Time{}
	}
	listCtx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	all, err := s.c.List(listCtx)
	if err != nil {
		s.c.Log.Warn("read the inbox for notifications", "err", err)
		return time.Now().Add(firstBackoff)
	}
	conf, now := s.c.Settings(), time.Now()
	soonest := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.load()
	if err != nil {
		return now.Add(firstBackoff)
	}
	for _, sub := range v.Subscriptions {
		g, err := s.login(sub)
		if err != nil || sub.sending { // it wakes this goroutine
			continue
		}
		if sub.retryAt.After(now) {
			soonest(sub.retryAt)
			continue
		}
		due, later := sub.due(view(ctx, g, all), conf.Delay, now)
		if !later.IsZero() {
			soonest(later)
		}
		if len(due) == 0 {
			continue
		}
		if sub.rate == nil {
			sub.rate = rate.NewLimiter(rate.Every(refill), maxMessages)
		}
		may := int(sub.rate.TokensAt(now))
		if may == 0 {
			soonest(now.Add(refill))
			continue
		}
		var messages []message
		if len(due) > maxMessages {
			messages = []message{summary(due)}
			due = nil
		}
		for i := range due[:min(may, len(due))] {
			m := s.messageOf(&due[i], conf.Details)
			m.addButtons(v.Secret, sub, &g, &due[i], now)
			messages = append(messages, m)
		}
		sub.rate.AllowN(now, len(messages))
		sub.sending = true
		wg.Go(func() { s.sendAll(ctx, sub, v.Key, messages) })
	}
	return next
}

// due returns the entries to send, and when a later one is due. Ports are not sent.
func (sub *subscription) due(items []api.InboxItem, delay time.Duration, now time.Time) (list []api.InboxItem, later time.Time) {
	for i := range items {
		it := &items[i]
		if it.State != "open" || it.Kind == api.InboxPort || it.Since.Before(sub.Info.Created) || sub.isSent(it) {
			continue
		}
		if at := it.Since.Add(delay); it.Kind == api.InboxQuestion && at.After(now) {
			if later.IsZero() || at.Before(later) {
				later = at
			}
			continue
		}
		list = append(list, *it)
	}
	return list, later
}

// maxSent bounds the recorded entries of a subscription.
const maxSent = 500

// markSent records entries that need not be sent again, and forgets the oldest ones.
func (sub *subscription) markSent(ids []string, now time.Time) {
	if sub.Sent == nil {
		sub.Sent = map[string]time.Time{}
	}
	for _, id := range ids {
		sub.Sent[id] = now
	}
	if len(sub.Sent) <= maxSent {
		return
	}
	times := slices.SortedFunc(maps.Values(sub.Sent), time.Time.Compare)
	oldest := times[len(times)-maxSent]
	maps.DeleteFunc(sub.Sent, func(_ string, at time.Time) bool { return at.Before(oldest) })
}

// isSent reports whether an entry was sent. Ids restart with a new database: an entry that is newer than what was sent
// under its id is a different one.
func (sub *subscription) isSent(it *api.InboxItem) bool {
	at, ok := sub.Sent[it.ID]
	return ok && !it.Since.After(at)
}

// sendAll sends messages to a subscription until one fails.
func (s *Set) sendAll(ctx context.Context, sub *subscription, key string, messages []message) {
	defer func() {
		select {
		case s.wake <- struct{}{}: // for entries that came while it sent
		default:
		}
	}()
	var err error
	done := 0
	for done < len(messages) && ctx.Err() == nil {
		if err = s.send(ctx, sub.Browser, key, &messages[done]); err != nil && !errors.As(err, new(*rejectedError)) {
			break
		}
		done++ // also if it was rejected: it would be again
	}
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	sub.sending = false
	for i := range messages[:done] {
		sub.markSent(messages[i].items, now)
	}
	v, loadErr := s.load()
	if loadErr != nil || !slices.Contains(v.Subscriptions, sub) { // removed or replaced
		return
	}
	switch {
	case errors.Is(err, errGone):
		s.c.Log.Info("removed a subscription to notifications: the browser has ended it", "device", sub.Info.Device, "service", sub.Info.Service)
		v.Subscriptions = without(v.Subscriptions, sub.Info.ID)
	case ctx.Err() != nil: // the daemon ends; the next one sends the rest
	default:
		if sub.record(err, now); err != nil {
			s.c.Log.Warn("send a notification", "device", sub.Info.Device, "err", sub.Info.Problem, "retry", sub.retryAt)
		}
	}
	if err := s.save(); err != nil {
		s.c.Log.Warn("record sent notifications", "err", err)
	}
}

// maxProblem bounds the recorded text of a failure, in characters.
const maxProblem = 300

// record records the result of the last attempt; a failure delays the next one.
func (sub *subscription) record(err error, now time.Time) {
	sub.Info.Problem = ""
	if err == nil {
		sub.fails, sub.retryAt = 0, time.Time{}
		return
	}
	sub.Info.Problem = webhook.OneLine(err.Error(), maxProblem) // it may have text of the push service
	var rejected *rejectedError
	if errors.As(err, &rejected) {
		return
	}
	pause := min(firstBackoff<<min(sub.fails, 10), maxBackoff)
	var retry *retryError
	if errors.As(err, &retry) {
		pause = min(max(pause, retry.after), maxBackoff)
	}
	sub.fails++
	sub.retryAt = now.Add(pause)
}

// errGone is returned for a subscription that its push service no longer knows.
var errGone = errors.New("the subscription has ended")

// rejectedError is a permanent rejection of a message.
type rejectedError struct{ reason string }

// Error implements error.
func (e *rejectedError) Error() string { return e.reason }

// retryError is a temporary failure. after is how long the push service asked to wait; 0 if it gave no time.
type retryError struct {
	reason string
	after  time.Duration
}

// Error implements error.
func (e *retryError) Error() string { return e.reason }

// send makes one attempt to send a message. Errors have only the host of the endpoint.
func (s *Set) send(ctx context.Context, to api.SubscribePush, key string, m *message) error {
	b, err := m.encode()
	if err != nil {
		return &rejectedError{err.Error()}
	}
	public, err := publicKey(key)
	if err != nil {
		return &rejectedError{err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	o := &webpush.Options{
		HTTPClient: s.client, Subscriber: vapidSubject, VAPIDPublicKey: public, VAPIDPrivateKey: key,
		TTL: int(messageTTL / time.Second), Urgency: webpush.UrgencyNormal,
	}
	if m.urgent {
		o.Urgency = webpush.UrgencyHigh
	}
	host := hostOf(to.Endpoint)
	resp, err := webpush.SendNotificationWithContext(ctx, b, &webpush.Subscription{
		Endpoint: to.Endpoint, Keys: webpush.Keys{P256dh: to.Keys.P256dh, Auth: to.Keys.Auth},
	}, o)
	if err != nil {
		var u *url.Error
		if !errors.As(err, &u) {
			return &rejectedError{fmt.Sprintf("%s: message not encrypted: %v", host, err)}
		}
		return &retryError{reason: fmt.Sprintf("%s: %v", host, u.Err)} // its own text has the whole URL
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be reused
	switch code := resp.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusNotFound, code == http.StatusGone:
		return errGone
	case code == http.StatusUnauthorized, code == http.StatusForbidden, // for example, this machine's clock is wrong
		code >= 500, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code == http.StatusTooEarly:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // otherwise the own pause
		return &retryError{fmt.Sprintf("%s answered %s", host, resp.Status), time.Duration(min(max(seconds, 0), 86400)) * time.Second}
	}
	return &rejectedError{fmt.Sprintf("%s answered %s", host, resp.Status)}
}
