package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/store/atomicfile"
)

const (
	// Burst is the number of notices that a URL receives at once; then it receives one per Every. Push services reject
	// higher rates.
	Burst    = 10
	Interval = 6 * time.Second
	// maxPending bounds the pending notices per URL. Beyond it the oldest are dropped, and the next notice reports how
	// many.
	maxPending = 32
	// maxURLs bounds the URLs with pending notices.
	maxURLs = 64
	// maxAge is the age at which a queued notice is dropped. The event itself may be older.
	maxAge = 6 * time.Hour
	// minBackoff is the pause after the first failure. It doubles with each further one, up to maxBackoff.
	minBackoff, maxBackoff = time.Second, 5 * time.Minute
	// maxKeys bounds the remembered keys of posted notices.
	maxKeys = 1024

	// keysFile is the file of the remembered keys.
	keysFile = "posted.json"
)

// ErrFull rejects a notice because too many URLs have pending notices.
var ErrFull = fmt.Errorf("notice rejected: %d URLs already have pending notices", maxURLs)

// Queue posts notices and retries failed posts. mu guards the maps and lists. Only Post writes a file while holding it,
// to keep files in the order of its calls; no notice is posted while holding it. A nil Queue is empty and rejects
// notices.
type Queue struct {
	dir  string
	http *http.Client
	log  *slog.Logger

	ctx     context.Context
	stop    context.CancelFunc
	workers sync.WaitGroup // goroutines of the URLs

	mu     sync.Mutex
	closed bool
	number uint64
	urls   map[string]*urlQueue
	keys   []string // hashes of the keys of posted notices, the oldest first

	keysMu sync.Mutex // serializes writes of keysFile, so that the newest is last
}

// urlQueue has the pending notices of one URL.
type urlQueue struct {
	pending   []*queuedNotice // the first is being posted
	isRunning bool            // its goroutine runs
	tokens    int             // of the rate limit; negative if posts wait for them
	refilled  time.Time       // when tokens were last added
	dropped   int             // notices dropped since the last delivery
	status    Status
}

// queuedNotice is a pending notice and its file.
type queuedNotice struct {
	id     string // starts with the time of queueing
	file   string
	notice Notice
	queued time.Time
}

// queuedAt returns when an earlier process queued e.
func queuedAt(e *queuedNotice) time.Time {
	head, _, _ := strings.Cut(e.id, "-")
	nano, err := strconv.ParseInt(head, 16, 64)
	if err != nil {
		return e.notice.At
	}
	return time.Unix(0, nano)
}

// Status describes the deliveries to one URL.
type Status struct {
	Host          string
	Pending       int       // notices that wait
	Dropped       int       // not yet reported to the host
	LastError     string    // of the last attempt; empty if it succeeded or none was made
	FailingSince  time.Time // first failed attempt since a delivery
	LastDelivered time.Time // time of the last delivery
}

// Open creates dir if needed and resumes the notices that an earlier process left in it. client may be nil.
func Open(dir string, client *http.Client, log *slog.Logger) (*Queue, error) {
	if client == nil {
		client = Client()
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("notices: %w", err)
	}
	q := &Queue{dir: dir, http: client, log: log, urls: map[string]*urlQueue{}}
	q.ctx, q.stop = context.WithCancel(context.Background())
	if err := q.load(); err != nil {
		return nil, fmt.Errorf("notices: %w", err)
	}
	return q, nil
}

// load reads the pending notices. It removes files without a notice, which a power failure may have cut off, and leaves
// unreadable files to the next process.
func (q *Queue) load() error {
	if b, err := os.ReadFile(filepath.Join(q.dir, keysFile)); err == nil {
		if err := json.Unmarshal(b, &q.keys); err != nil {
			q.log.Warn("notices that were posted are not known", "err", err)
		}
	}
	names, err := filepath.Glob(filepath.Join(q.dir, "*.notice"))
	if err != nil {
		return err
	}
	slices.Sort(names)
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, name := range names {
		e := &queuedNotice{file: name, id: strings.TrimSuffix(filepath.Base(name), ".notice")}
		b, err := os.ReadFile(name)
		if err != nil {
			q.log.Warn("a notice cannot be read", "file", filepath.Base(name), "err", err)
			continue
		}
		err = json.Unmarshal(b, &e.notice)
		if err == nil && e.notice.Key != "" && slices.Contains(q.keys, e.notice.keyHash()) { // the process was killed before it removed the file
			err = errors.New("it was posted")
		}
		if err != nil {
			q.log.Info("a notice is not posted", "file", filepath.Base(name), "why", err)
			q.removeFile(name)
			continue
		}
		e.queued = queuedAt(e)
		q.add(e)
	}
	return nil
}

// Post queues a notice. When it returns, the notice is on disk and will be posted, by a later process if necessary. It
// does not wait for the host. A notice with a known key is ignored.
func (q *Queue) Post(n Notice) error {
	if q == nil {
		return errors.New("nothing is posted here")
	}
	if err := CheckURL(n.URL); err != nil {
		return err
	}
	if len(n.Data) > MaxData {
		n.Data = nil
	}
	if n.At.IsZero() {
		n.At = time.Now()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.urls[n.URL]
	switch {
	case q.closed:
		return errors.New("notice rejected: daemon is shutting down")
	case n.Key != "" && q.isKnown(l, &n):
		return nil
	case l == nil && q.countBusy() >= maxURLs:
		return ErrFull
	}
	q.number++
	now := time.Now()
	e := &queuedNotice{id: fmt.Sprintf("%016x-%04x", now.UnixNano(), q.number&0xffff), notice: n, queued: now}
	e.file = filepath.Join(q.dir, e.id+".notice")
	b, err := json.Marshal(&n)
	if err != nil {
		return fmt.Errorf("notice: %w", err)
	}
	if err := atomicfile.Write(e.file, atomicfile.Options{}, b); err != nil {
		return fmt.Errorf("notice: %w", err)
	}
	q.add(e)
	return nil
}

// isKnown reports whether a notice with the key of n was posted or is pending. The caller holds mu.
func (q *Queue) isKnown(l *urlQueue, n *Notice) bool {
	if slices.Contains(q.keys, n.keyHash()) {
		return true
	}
	return l != nil && slices.ContainsFunc(l.pending, func(e *queuedNotice) bool { return e.notice.Key == n.Key })
}

// countBusy counts URLs with pending notices, and forgets other URLs if there are many. The caller holds mu.
func (q *Queue) countBusy() (n int) {
	for url, l := range q.urls {
		switch {
		case len(l.pending) > 0:
			n++
		case len(q.urls) >= maxURLs:
			delete(q.urls, url)
		}
	}
	return n
}

// add adds a notice to its URL's queue. The caller holds mu.
func (q *Queue) add(e *queuedNotice) {
	l := q.urls[e.notice.URL]
	if l == nil {
		l = &urlQueue{tokens: Burst, refilled: time.Now(), status: Status{Host: Host(e.notice.URL)}}
		q.urls[e.notice.URL] = l
	}
	l.pending = append(l.pending, e)
	if n := len(l.pending); n > maxPending { // not the first, which is being posted
		q.drop(l, 1)
	}
	if !l.isRunning {
		l.isRunning = true
		q.workers.Go(func() { q.run(l) })
	}
}

// drop drops the notice at an index of a URL's queue. The caller holds mu.
func (q *Queue) drop(l *urlQueue, i int) {
	e := l.pending[i]
	l.pending = slices.Delete(l.pending, i, i+1)
	l.dropped++
	q.rememberKey(e)
	q.removeFile(e.file)
}

// run posts the pending notices of a URL until there are none.
func (q *Queue) run(l *urlQueue) {
	pause := minBackoff
	for {
		e, dropped := q.nextNotice(l)
		if e == nil || !sleep(q.ctx, q.takeToken(l)) {
			return
		}
		err := Post(q.ctx, q.http, &e.notice, e.id, dropped)
		if q.ctx.Err() != nil {
			return // the next process resumes it
		}
		var later *RetryError
		if !errors.As(err, &later) {
			q.finish(l, e, dropped, err)
			pause = minBackoff
			continue
		}
		q.recordFailure(l, err)
		if !sleep(q.ctx, max(pause, later.RetryAfter)) {
			return
		}
		pause = min(2*pause, maxBackoff)
	}
}

// nextNotice returns the notice to post, and the number of dropped ones. It returns nil if none is pending; the
// goroutine then ends.
func (q *Queue) nextNotice(l *urlQueue) (*queuedNotice, int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(l.pending) > 0 && time.Since(l.pending[0].queued) > maxAge {
		q.drop(l, 0)
	}
	if len(l.pending) == 0 || q.closed {
		l.isRunning = false
		return nil, 0
	}
	return l.pending[0], l.dropped
}

// takeToken takes a token of the URL's rate limit and returns how long to wait for it.
func (q *Queue) takeToken(l *urlQueue) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	if n := now.Sub(l.refilled) / Interval; n > 0 {
		if l.tokens += int(min(n, Burst)); l.tokens >= Burst {
			l.tokens, l.refilled = Burst, now
		} else {
			l.refilled = l.refilled.Add(n * Interval)
		}
	}
	l.tokens--
	if l.tokens >= 0 {
		return 0
	}
	return l.refilled.Add(time.Duration(-l.tokens) * Interval).Sub(now)
}

// finish removes a notice that was delivered or rejected for good.
func (q *Queue) finish(l *urlQueue, e *queuedNotice, dropped int, err error) {
	q.mu.Lock()
	l.pending = l.pending[1:]
	if err == nil {
		l.dropped -= dropped
		l.status.LastError, l.status.FailingSince, l.status.LastDelivered = "", time.Time{}, time.Now()
	} else {
		l.dropped++
		l.recordError(err)
	}
	q.rememberKey(e)
	q.mu.Unlock()
	if err != nil {
		q.log.Warn("a notice was refused", "event", e.notice.Event, "err", err)
	}
	q.saveKeys()
	q.removeFile(e.file)
}

// recordFailure records a failed attempt, and logs the first one.
func (q *Queue) recordFailure(l *urlQueue, err error) {
	q.mu.Lock()
	first := l.status.LastError == ""
	l.recordError(err)
	q.mu.Unlock()
	if first { // log only the first failure: repeats would fill the log
		q.log.Warn("a notice is posted again later", "err", err)
	}
}

// recordError records the error of an attempt.
func (l *urlQueue) recordError(err error) {
	if l.status.LastError == "" {
		l.status.FailingSince = time.Now()
	}
	l.status.LastError = err.Error()
}

// rememberKey remembers the key of a notice. The caller holds mu.
func (q *Queue) rememberKey(e *queuedNotice) {
	if e.notice.Key == "" {
		return
	}
	q.keys = append(q.keys, e.notice.keyHash())
	if n := len(q.keys) - maxKeys; n > 0 {
		q.keys = slices.Delete(q.keys, 0, n)
	}
}

// saveKeys writes the remembered keys to keysFile.
func (q *Queue) saveKeys() {
	q.keysMu.Lock()
	defer q.keysMu.Unlock()
	q.mu.Lock()
	b, err := json.Marshal(q.keys)
	q.mu.Unlock()
	if err == nil {
		err = atomicfile.Write(filepath.Join(q.dir, keysFile), atomicfile.Options{}, b)
	}
	if err != nil {
		q.log.Warn("keep which notices were posted", "err", err)
	}
}

// Status returns the delivery status of all URLs that were posted to, sorted by host.
func (q *Queue) Status() []Status {
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	all := make([]Status, 0, len(q.urls))
	for _, l := range q.urls {
		s := l.status
		s.Pending, s.Dropped = len(l.pending), l.dropped
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Status) int { return strings.Compare(a.Host, b.Host) })
	return all
}

// Close cancels running posts and waits for their goroutines. Pending notices stay for the next process.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.stop()
	q.workers.Wait()
}

// removeFile removes the file of a notice.
func (q *Queue) removeFile(name string) {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		q.log.Warn("remove a notice that was posted", "err", err)
	}
}

// keyHash returns the hash under which a key is remembered.
func (n *Notice) keyHash() string {
	sum := sha256.Sum256([]byte(n.URL + "\n" + n.Key))
	return hex.EncodeToString(sum[:12])
}

// sleep waits for d. It returns false if ctx ended before.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
