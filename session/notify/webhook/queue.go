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
	Burst = 10
	Every = 6 * time.Second
	// maxWaiting bounds the pending notices per URL. Beyond it the oldest are dropped, and the next notice reports how
	// many.
	maxWaiting = 32
	// maxURLs is how many URLs are posted to at a time.
	maxURLs = 64
	// keepFor is the age at which a queued notice is dropped. The event itself may be older.
	keepFor = 6 * time.Hour
	// firstPause is the backoff after the first failure. It doubles with each further one, up to maxPause.
	firstPause, maxPause = time.Second, 5 * time.Minute
	// keptKeys is how many keys are known of notices that were posted.
	keptKeys = 1024

	keysFile = "posted.json"
)

// ErrFull rejects a notice because too many URLs have pending notices.
var ErrFull = fmt.Errorf("notice rejected: %d URLs already have pending notices", maxURLs)

// Queue posts notices and retries failed posts. The lock guards maps and the lists of lanes. Only Post writes a file
// while holding it, to keep files in the order of its calls; nothing posts while holding it. A nil Queue is empty and
// rejects notices.
type Queue struct {
	dir  string
	http *http.Client
	log  *slog.Logger

	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	closed bool
	number uint64
	lanes  map[string]*lane
	keys   []string // hashes of those posted, the oldest first

	keeping sync.Mutex // held while keysFile is written, so that the newest is last
}

// lane is what waits for one URL.
type lane struct {
	waiting []*entry // the first is being posted
	runs    bool
	tokens  int // posts that may follow at once
	filled  time.Time
	leftOut int // since the last that was delivered
	last    Status
}

type entry struct {
	id    string // begins with the time of queueing
	file  string
	n     Notice
	taken time.Time
}

// takenAt returns when an earlier process queued e.
func takenAt(e *entry) time.Time {
	head, _, _ := strings.Cut(e.id, "-")
	nano, err := strconv.ParseInt(head, 16, 64)
	if err != nil {
		return e.n.At
	}
	return time.Unix(0, nano)
}

// Status describes the deliveries to one URL.
type Status struct {
	Host    string
	Waiting int
	LeftOut int       // dropped, not yet reported
	Failing string    // error of the last attempt; empty if it succeeded or none was made
	Since   time.Time // of the first attempt that failed since one that did not
	Told    time.Time // of the last that was delivered
}

// Open creates dir if needed and resumes the notices that an earlier process left in it. client may be nil.
func Open(dir string, client *http.Client, log *slog.Logger) (*Queue, error) {
	if client == nil {
		client = Client()
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("notices: %w", err)
	}
	q := &Queue{dir: dir, http: client, log: log, lanes: map[string]*lane{}}
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
		e := &entry{file: name, id: strings.TrimSuffix(filepath.Base(name), ".notice")}
		b, err := os.ReadFile(name)
		if err != nil {
			q.log.Warn("a notice cannot be read", "file", filepath.Base(name), "err", err)
			continue
		}
		err = json.Unmarshal(b, &e.n)
		if err == nil && e.n.Key != "" && slices.Contains(q.keys, e.n.hash()) { // killed before the file was removed
			err = errors.New("it was posted")
		}
		if err != nil {
			q.log.Info("a notice is not posted", "file", filepath.Base(name), "why", err)
			q.remove(name)
			continue
		}
		e.taken = takenAt(e)
		q.add(e)
	}
	return nil
}

// Post takes a notice: when it returns, the notice is on its way, also through the end of this process. It waits for the
// file, and for no host. One whose key is known is taken, and nothing is done.
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
	l := q.lanes[n.URL]
	switch {
	case q.closed:
		return errors.New("notice rejected: daemon is shutting down")
	case n.Key != "" && q.known(l, &n):
		return nil
	case l == nil && q.busy() >= maxURLs:
		return ErrFull
	}
	q.number++
	now := time.Now()
	e := &entry{id: fmt.Sprintf("%016x-%04x", now.UnixNano(), q.number&0xffff), n: n, taken: now}
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

// known reports whether a notice with the key of n was posted or is pending. The caller holds mu.
func (q *Queue) known(l *lane, n *Notice) bool {
	if slices.Contains(q.keys, n.hash()) {
		return true
	}
	return l != nil && slices.ContainsFunc(l.waiting, func(e *entry) bool { return e.n.Key == n.Key })
}

// busy counts URLs that something waits for, and forgets others when there are many. The caller holds mu.
func (q *Queue) busy() (n int) {
	for url, l := range q.lanes {
		switch {
		case len(l.waiting) > 0:
			n++
		case len(q.lanes) >= maxURLs:
			delete(q.lanes, url)
		}
	}
	return n
}

// add puts an entry into its lane. The caller holds mu.
func (q *Queue) add(e *entry) {
	l := q.lanes[e.n.URL]
	if l == nil {
		l = &lane{tokens: Burst, filled: time.Now(), last: Status{Host: Host(e.n.URL)}}
		q.lanes[e.n.URL] = l
	}
	l.waiting = append(l.waiting, e)
	if n := len(l.waiting); n > maxWaiting { // not the first, which is under way
		q.leaveOut(l, 1)
	}
	if !l.runs {
		l.runs = true
		q.work.Go(func() { q.run(l) })
	}
}

// leaveOut drops the entry at an index of a lane's. The caller holds mu.
func (q *Queue) leaveOut(l *lane, i int) {
	e := l.waiting[i]
	l.waiting = slices.Delete(l.waiting, i, i+1)
	l.leftOut++
	q.note(e)
	q.remove(e.file)
}

// run posts what waits in a lane, until nothing does.
func (q *Queue) run(l *lane) {
	pause := firstPause
	for {
		e, leftOut := q.next(l)
		if e == nil || !sleep(q.ctx, q.reserve(l)) {
			return
		}
		err := Post(q.ctx, q.http, &e.n, e.id, leftOut)
		if q.ctx.Err() != nil {
			return // the next process resumes it
		}
		var later *Later
		if !errors.As(err, &later) {
			q.done(l, e, leftOut, err)
			pause = firstPause
			continue
		}
		q.recordFailure(l, err)
		if !sleep(q.ctx, max(pause, later.After)) {
			return
		}
		pause = min(2*pause, maxPause)
	}
}

// next returns the notice to post. It returns nil if none is pending; the lane then stops.
func (q *Queue) next(l *lane) (*entry, int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(l.waiting) > 0 && time.Since(l.waiting[0].taken) > keepFor {
		q.leaveOut(l, 0)
	}
	if len(l.waiting) == 0 || q.closed {
		l.runs = false
		return nil, 0
	}
	return l.waiting[0], l.leftOut
}

// reserve takes a token of the lane's rate limit and returns how long to wait for it.
func (q *Queue) reserve(l *lane) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	if n := now.Sub(l.filled) / Every; n > 0 {
		if l.tokens += int(min(n, Burst)); l.tokens >= Burst {
			l.tokens, l.filled = Burst, now
		} else {
			l.filled = l.filled.Add(n * Every)
		}
	}
	l.tokens--
	if l.tokens >= 0 {
		return 0
	}
	return l.filled.Add(time.Duration(-l.tokens) * Every).Sub(now)
}

// done removes what was delivered, or refused for good.
func (q *Queue) done(l *lane, e *entry, leftOut int, err error) {
	q.mu.Lock()
	l.waiting = l.waiting[1:]
	if err == nil {
		l.leftOut -= leftOut
		l.last.Failing, l.last.Since, l.last.Told = "", time.Time{}, time.Now()
	} else {
		l.leftOut++
		l.fails(err)
	}
	q.note(e)
	q.mu.Unlock()
	if err != nil {
		q.log.Warn("a notice was refused", "event", e.n.Event, "err", err)
	}
	q.keepKeys()
	q.remove(e.file)
}

func (q *Queue) recordFailure(l *lane, err error) {
	q.mu.Lock()
	first := l.last.Failing == ""
	l.fails(err)
	q.mu.Unlock()
	if first { // log only the first failure: repeats would fill the log
		q.log.Warn("a notice is posted again later", "err", err)
	}
}

func (l *lane) fails(err error) {
	if l.last.Failing == "" {
		l.last.Since = time.Now()
	}
	l.last.Failing = err.Error()
}

// note remembers an entry's key. The caller holds mu.
func (q *Queue) note(e *entry) {
	if e.n.Key == "" {
		return
	}
	q.keys = append(q.keys, e.n.hash())
	if n := len(q.keys) - keptKeys; n > 0 {
		q.keys = slices.Delete(q.keys, 0, n)
	}
}

func (q *Queue) keepKeys() {
	q.keeping.Lock()
	defer q.keeping.Unlock()
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
	all := make([]Status, 0, len(q.lanes))
	for _, l := range q.lanes {
		s := l.last
		s.Waiting, s.LeftOut = len(l.waiting), l.leftOut
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Status) int { return strings.Compare(a.Host, b.Host) })
	return all
}

// Close ends what is under way and waits. What waits stays for the next process.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.stop()
	q.work.Wait()
}

func (q *Queue) remove(name string) {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		q.log.Warn("remove a notice that was posted", "err", err)
	}
}

// hash returns the hash under which a posted key is remembered.
func (n *Notice) hash() string {
	sum := sha256.Sum256([]byte(n.URL + "\n" + n.Key))
	return hex.EncodeToString(sum[:12])
}

// sleep waits for d and reports whether the caller should continue.
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
