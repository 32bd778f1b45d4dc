package session

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/longterm-dev/longterm/session/internal/history"
	"github.com/longterm-dev/longterm/session/internal/pace"
	"github.com/longterm-dev/longterm/session/internal/typing"
	"github.com/longterm-dev/longterm/session/internal/wait"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/secrets"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// Errors of a session's operations.
var (
	ErrEnded      = typing.ErrEnded
	ErrStopped    = errors.New("the session is being closed")
	ErrOverloaded = typing.ErrOverloaded
	ErrStale      = errors.New("the screen has changed")
)

// Device is the far side of a session: its terminal and its process.
type Device interface {
	// Write types bytes; it blocks while the program does not read, until the
	// deadline.
	Write(p []byte) (int, error)
	// TryWrite types what can be typed without waiting and returns how much that was;
	// errors are left to Write to find.
	TryWrite(p []byte) int
	SetWriteDeadline(t time.Time) error
	// Resize sets the terminal's size and tells the program.
	Resize(cols, rows int) error
	// Resume says that a full ring has room again.
	Resume()
	// Control calls f with the descriptor of the terminal's master.
	Control(f func(fd int) error) error
	// Release lets the keeper forget the session. Called once all is journalled.
	Release()
}

// Config is what a session is made of. Device and Ring are nil for sessions whose
// process is gone: only their history is there.
type Config struct {
	ID      string
	Dir     string // where its journal and checkpoint are; empty: no checkpoints
	Device  Device
	Ring    *ring.Ring
	Journal *journal.Journal
	Engine  string // name of the emulator, see Engines
	Options vterm.Options
	Status  Status // what is known at the start
	// Shell is how the session's shell was started, for the integration; nil: it is none.
	Shell *shell.Launch
	// Nonce is what a shell's marks had on another machine, where the session was; empty: it was not, or is not known. It
	// is hidden in output as that of Shell is.
	Nonce string
	// Ran is told of every command of the shell that begins and ends, in order, on the
	// owner's goroutine. After a restart it may be told again.
	Ran func(Command)
	// Secrets looks secrets up and runs hooks for rules; nil: neither can be had.
	Secrets SecretResolver
	// Known has the values that are secret: what the shell's environment and those who type secrets add, and
	// what Hide masks. nil: none are known.
	Known *secrets.Vault
	// Fired is told of what rules do, on the owner's goroutine; it must not block.
	Fired func(Firing)
	Log   *slog.Logger
	// Changed is told of every change of Status, on the owner's goroutine; it must
	// not block or call back.
	Changed func(Status, Change)
	// Notified receives the title and body of each notification of the program (OSC 9, 99, 777). The owner calls it, as it calls
	// Changed.
	Notified func(title, body string)
	// Rebuilding bounds how many sessions replay their history at once; a session
	// a caller asks for goes first. nil: no bound.
	Rebuilding chan struct{}
	// Awake bounds how many ended sessions have an emulator in memory; nil: no bound.
	Awake *Awake
	// Build names the program; Crashed says that the daemon before this one died of an error
	// of its own. Suspects, with room for one, has sessions in whose replay one did replayed
	// one at a time. See quarantine.go.
	Build    string
	Crashed  bool
	Suspects chan struct{}
	// FrameInterval is the least time between two frames, now; nil: the constant.
	FrameInterval func() time.Duration
	// Pace is how often a program that sleeps is looked at, and hears of everything else that happens; nil: one of its own.
	Pace *pace.Pace
}

// Session is a terminal and its history. All methods may be called from any goroutine.
type Session struct {
	cfg    Config
	log    *slog.Logger
	engine vterm.Engine
	ring   *ring.Ring
	events []vterm.Event // reused

	ops     chan func()
	output  chan struct{} // the ring has something new
	wanted  chan struct{} // closed by the first operation: rebuild now
	stop    chan struct{}
	stopped chan struct{}
	once    sync.Once // stop
	want    sync.Once // wanted
	start   sync.Once

	// The owner's.
	off         uint64 // bytes the emulator has seen
	exit        *Exit  // reported by the keeper, not reached yet
	exitAt      uint64
	closed      bool // no more output can come
	released    bool
	quiet       bool      // changes are not announced: they are old
	replaying   time.Time // when what is being replayed happened
	lastSize    [2]int    // columns and rows, as the last size that was replayed says; zero: none was
	leader      leader
	inputwait   *inputWait // whether the program waits for input
	waits       *waits
	typing      *typist      // what is typed
	history     *historyHost // what is kept
	lines       *lineHost    // runs lines in the shell, and knows it
	bells       int
	bellAt      uint64     // offset after the newest one
	rules       *rulesHost // nil: there are no rules
	clock       frameClock
	doze        doze
	quarantined bool // nothing looks at output any more

	detached atomic.Bool // the ring was given up: what the journal does not have is lost

	aside sync.WaitGroup // what waits for the disk

	resizing atomic.Int32 // changes of the size under way

	outer     vterm.Outer // see SetOuter; the owner's
	effects   effects
	watch     watchers
	arrivals  arrivals
	followers history.RingReader

	mu    sync.Mutex    // guards cfg.Status, which is what is known now, and findings of other goroutines (see storeFinding)
	read  wait.Progress // found by the reader of the output
	agent wait.Agent
}

// New makes a session. Nothing happens until Start.
func New(cfg Config) (*Session, error) {
	engine, err := NewEngine(cfg.Engine, cfg.Options)
	if err != nil {
		return nil, err
	}
	s := &Session{
		cfg: cfg, log: cfg.Log, engine: engine, ring: cfg.Ring,
		ops: make(chan func()), output: make(chan struct{}, 1), wanted: make(chan struct{}),
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	s.inputwait = newInputWait(s)
	s.lines = newLineHost(s)
	s.typing = &typist{s: s, queue: typing.NewQueue(cfg.Device)}
	s.waits = newWaits(s)
	s.history = &historyHost{s: s, screens: history.NewScreens(cfg.Dir), said: &said{}}
	s.history.disk = diskWriter{id: cfg.ID, dir: cfg.Dir, log: cfg.Log, screens: s.history.screens, tasks: &s.aside}
	s.clock.interval = cfg.FrameInterval
	s.followers.Open(cfg.Ring)
	s.history.record.Begin(cfg.Journal, cfg.Ring)
	return s, nil
}

// Start begins the owner's goroutine; later calls do nothing.
func (s *Session) Start() { s.start.Do(func() { go s.run() }) }

// Stop ends the owner's goroutine after a checkpoint and waits for it. The child and
// the keeper are not touched. Watches and waits end.
func (s *Session) Stop() {
	s.once.Do(func() { close(s.stop) })
	s.Start()
	s.wake()
	<-s.stopped
}

// Notice says that the ring has something new. It never blocks. Raw followers are told
// before the owner has even seen it: they read the ring themselves. The goroutine that is made
// ready last runs first where this one was, so that is a follower: a key's echo does not wait for
// the owner's journal.
func (s *Session) Notice() {
	signal(s.output)
	s.wake()
	s.watch.output()
}

// Exited says that the child ended when its output stood at head.
func (s *Session) Exited(e Exit, head uint64) {
	s.post(func() {
		if s.exit == nil && s.Status().State == Running {
			s.exit, s.exitAt = &e, head
		}
	})
}

// Closed says that no output comes after what is in the ring.
func (s *Session) Closed() { s.post(func() { s.closed = true }) }

// Lost says that the keeper is gone, and with it the child.
func (s *Session) Lost() {
	s.post(func() {
		s.drain()
		s.rules.ended()
		s.typing.queue.End()
		s.detached.Store(true)
		s.forgetRing()
		if s.Status().State == Running {
			now := time.Now()
			s.update(ChangeState, func(st *Status) { st.State, st.Ended = Lost, now })
			s.watch.frames() // who follows it has all there will be
			s.watch.output()
		}
		s.endWaits()
		s.mayRest()
	})
}

// post hands the owner something to do without waiting for it.
func (s *Session) post(f func()) { s.hand(func() { _ = s.guarded(f) }) }

// hand is post without finding an emulator first.
func (s *Session) hand(f func()) {
	s.Start()
	go func() {
		if s.give(func() { s.stir(); f() }, s.stopped, nil) {
			s.Notice() // have the new state looked at
		}
	}()
}

// do runs f on the owner's goroutine and waits for it.
func (s *Session) do(ctx context.Context, f func()) error {
	s.Start()
	s.want.Do(func() { close(s.wanted) })
	done := make(chan struct{})
	var bad error
	if !s.give(func() { defer close(done); s.stir(); bad = s.guarded(f) }, s.stopped, ctx.Done()) {
		if err := ctx.Err(); err != nil {
			return err
		}
		return ErrStopped
	}
	<-done // f is short; leaving early would let it write to what its caller reads
	return bad
}

// guarded runs an operation, which finds an emulator.
func (s *Session) guarded(f func()) (err error) {
	if gerr := s.guard(func() { err = s.used() }); gerr != nil || err != nil {
		return errors.Join(gerr, err)
	}
	return s.guard(f)
}

// ID is the session's id.
func (s *Session) ID() string { return s.cfg.ID }
