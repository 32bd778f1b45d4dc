package session

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/longterm-dev/longterm/session/internal/admit"
	"github.com/longterm-dev/longterm/session/internal/history"
	"github.com/longterm-dev/longterm/session/internal/idlepoll"
	"github.com/longterm-dev/longterm/session/internal/inputqueue"
	"github.com/longterm-dev/longterm/session/internal/wait"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// Errors of a session's operations.
var (
	ErrEnded      = inputqueue.ErrEnded
	ErrStopped    = errors.New("the session is being closed")
	ErrOverloaded = inputqueue.ErrOverloaded
	ErrStale      = admit.ErrStale
)

// Device is the terminal and the process of a session.
type Device interface {
	// Write types bytes. It blocks while the program does not read, until the deadline.
	Write(p []byte) (int, error)
	// TryWrite types as much as fits without waiting and returns its length. It reports no errors; a later Write does.
	TryWrite(p []byte) int
	SetWriteDeadline(t time.Time) error
	// Resize sets the terminal's size and signals the program.
	Resize(cols, rows int) error
	// Resume reports that a full ring has room again.
	Resume()
	// Control calls f with the descriptor of the terminal's master.
	Control(f func(fd int) error) error
	// Release lets the keeper forget the session. It is called after all output is journaled.
	Release()
}

// Config holds the parts of a session. Device and Ring are nil for a session whose process has ended and of which only
// its history exists.
type Config struct {
	ID      string
	Dir     string // directory of its journal and checkpoints; checkpoints are off if empty
	Device  Device
	Ring    *ring.Ring
	Journal *journal.Journal
	Engine  string // name of the emulator, see EngineNames
	Options vterm.Options
	Status  Status // known at the start
	// Shell is how the session's shell was started, for the integration. It is nil for other programs.
	Shell *shell.Launch
	// OriginNonce is the nonce of the marks on the machine from which the session was copied, or "". It is masked in
	// output like that of Shell.
	OriginNonce string
	// OnCommand receives each command of the shell when it starts and when it ends, in order, on the owner's goroutine. After
	// a restart a command may be repeated.
	OnCommand func(Command)
	// Secrets looks up secrets and runs hooks for rules. If nil, neither is available.
	Secrets ReplyResolver
	// Vault holds the secret values that Redact masks: those of the shell's environment and typed secrets. It may be
	// nil.
	Vault *redact.Vault
	// OnRuleMatch receives the actions of rules, on the owner's goroutine. It must not block.
	OnRuleMatch func(RuleMatch)
	Log         *slog.Logger
	// OnChange receives each change of Status, on the owner's goroutine. It must not block or call the session.
	OnChange func(Status, Change)
	// OnNotify receives the title and body of each notification of the program (OSC 9, 99, 777). It is called like
	// OnChange.
	OnNotify func(title, body string)
	// RebuildSlots bounds how many sessions replay their history at once. A session that a caller waits for goes first.
	// A nil channel sets no bound.
	RebuildSlots chan struct{}
	// EmulatorCache bounds the number of ended sessions with an emulator in memory. A nil cache sets no bound.
	EmulatorCache *EmulatorCache
	// Build identifies the program. PreviousCrashed reports that the previous daemon crashed. SuspectSlot has a capacity
	// of one, so that the sessions in whose replay a daemon crashed are replayed one at a time. See quarantine.go.
	Build           string
	PreviousCrashed bool
	SuspectSlot     chan struct{}
	// FrameInterval returns the current least time between two frames; nil: the constant.
	FrameInterval func() time.Duration
	// Poller sets the polling interval of a sleeping program, and receives all other activity; nil: a separate one.
	Poller *idlepoll.Poller
}

// Session is a terminal and its history. All methods may be called from any goroutine.
type Session struct {
	cfg    Config
	log    *slog.Logger
	engine vterm.Engine
	ring   *ring.Ring
	events []vterm.Event // reused

	ops         chan func()   // operations for the owner
	output      chan struct{} // signals that the ring has new output
	rebuildNow  chan struct{} // closed by the first operation, which starts the rebuild
	stop        chan struct{}
	stopped     chan struct{}
	stopOnce    sync.Once // closes stop
	rebuildOnce sync.Once // closes rebuildNow
	startOnce   sync.Once // starts the owner

	// The owner's:
	offset       uint64    // bytes that the emulator has processed
	exit         *Exit     // reported by the keeper; output up to exitAt is not handled yet
	exitAt       uint64    // output offset after which exit counts
	outputEnded  bool      // the output has ended
	released     bool      // the keeper has forgotten the session
	publishMuted bool      // changes are not published, as history is being replayed
	replayTime   time.Time // time of the record that is being replayed
	lastSize     [2]int    // columns and rows of the last replayed size; zero: none
	leader       leader
	inputwait    *inputWait   // whether the program waits for input
	waits        *waits       // waits of callers
	typing       *inputState  // input
	history      *historyHost // journal, checkpoints, reported state
	lines        *lineHost    // runs lines in the shell and tracks it
	pendingBells int          // bells that were not published yet
	bellAt       uint64       // offset after the newest bell
	rules        *rulesHost   // may be nil
	clock        frameClock
	parking      ownerPark
	quarantined  bool // output is no longer interpreted

	detached atomic.Bool // the ring was released: output missing in the journal is lost

	diskTasks sync.WaitGroup // tasks that wait for the disk

	resizing atomic.Int32 // resizes in progress

	outer       vterm.Outer // see SetOuter; the owner's
	effects     effects
	watch       watchers
	outputTimes outputTimes
	followers   history.RingReader // lets followers read the ring

	mu       sync.Mutex    // guards cfg.Status (the current status) and observations of other goroutines (see storeObservation)
	progress wait.Progress // progress found by the watcher of the output
	agent    wait.Agent
	ports    []int        // TCP, at which its processes accept connections
	anomaly  wait.Anomaly // of the newest command
}

// New returns a session, which does nothing before Start.
func New(cfg Config) (*Session, error) {
	engine, err := NewEngine(cfg.Engine, cfg.Options)
	if err != nil {
		return nil, err
	}
	s := &Session{
		cfg: cfg, log: cfg.Log, engine: engine, ring: cfg.Ring,
		ops: make(chan func()), output: make(chan struct{}, 1), rebuildNow: make(chan struct{}),
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	s.inputwait = newInputWait(s)
	s.lines = newLineHost(s)
	s.typing = &inputState{s: s, queue: inputqueue.NewQueue(cfg.Device)}
	s.waits = newWaits(s)
	s.history = &historyHost{s: s, screens: history.NewScreenSeries(cfg.Dir), lastReported: &reportedState{}}
	s.history.disk = diskWriter{id: cfg.ID, dir: cfg.Dir, log: cfg.Log, screens: s.history.screens, tasks: &s.diskTasks}
	s.clock.interval = cfg.FrameInterval
	s.followers.SetRing(cfg.Ring)
	s.history.recorder.Start(cfg.Journal, cfg.Ring)
	return s, nil
}

// Start starts the owner's goroutine. Later calls do nothing.
func (s *Session) Start() { s.startOnce.Do(func() { go s.run() }) }

// Stop ends the owner's goroutine after a checkpoint and waits for it. The child and
// the keeper are not touched. Watches and waits end.
func (s *Session) Stop() {
	s.stopOnce.Do(func() { close(s.stop) })
	s.Start()
	s.unpark()
	<-s.stopped
}

// NotifyOutput signals new output in the ring. It never blocks. Raw followers are woken before the owner, as they read the
// ring themselves. The scheduler runs the goroutine that became ready last first; that is a follower here, so a key's
// echo does not wait for the owner's journal.
func (s *Session) NotifyOutput() {
	signal(s.output)
	s.unpark()
	s.watch.output()
}

// Exited records that the child ended when its output had reached head.
func (s *Session) Exited(e Exit, head uint64) {
	s.post(func() {
		if s.exit == nil && s.Status().State == Running {
			s.exit, s.exitAt = &e, head
		}
	})
}

// Closed records that the ring's output has ended.
func (s *Session) Closed() { s.post(func() { s.outputEnded = true }) }

// KeeperLost records that the keeper, and with it the child, has died.
func (s *Session) KeeperLost() {
	s.post(func() {
		s.drain()
		s.rules.onEnd()
		s.typing.queue.End()
		s.detached.Store(true)
		s.unmapRing()
		if s.Status().State == Running {
			now := time.Now()
			s.update(ChangeState, func(st *Status) { st.State, st.Ended = Lost, now })
			s.watch.frames() // followers have all there will be
			s.watch.output()
		}
		s.endWaits()
		s.scheduleEviction()
	})
}

// post sends an operation to the owner and does not wait for it.
func (s *Session) post(f func()) { s.postRaw(func() { _ = s.runGuarded(f) }) }

// postRaw works like post without restoring an evicted emulator.
func (s *Session) postRaw(f func()) {
	s.Start()
	go func() {
		if s.enqueueOp(func() { s.noteActivity(); f() }, s.stopped, nil) {
			s.NotifyOutput() // make the owner check the new state
		}
	}()
}

// do runs f on the owner's goroutine and waits for it.
func (s *Session) do(ctx context.Context, f func()) error {
	s.Start()
	s.rebuildOnce.Do(func() { close(s.rebuildNow) })
	done := make(chan struct{})
	var bad error
	if !s.enqueueOp(func() { defer close(done); s.noteActivity(); bad = s.runGuarded(f) }, s.stopped, ctx.Done()) {
		if err := ctx.Err(); err != nil {
			return err
		}
		return ErrStopped
	}
	<-done // f is short; an early return would let it write to memory that the caller reads
	return bad
}

// runGuarded runs an operation with a restored emulator.
func (s *Session) runGuarded(f func()) (err error) {
	if gerr := s.guard(func() { err = s.ensureEmulator() }); gerr != nil || err != nil {
		return errors.Join(gerr, err)
	}
	return s.guard(f)
}

// ID returns the session's id.
func (s *Session) ID() string { return s.cfg.ID }
