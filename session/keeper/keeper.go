//go:build unix

package keeper

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/internal/calm"
	"github.com/longterm-dev/longterm/session/internal/pace"
	"github.com/longterm-dev/longterm/session/keeper/launch"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/sys/dirwatch"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
)

// Config is what a keeper is started with.
type Config struct {
	Socket string // path of the Unix socket to serve
	Lock   string // path of the lock file that makes this key's keeper the only one
	// StateLock is another one, in the state directory, which outlives the runtime
	// directory; empty: none.
	StateLock string
	Key       string // placement key
	Build     string // version of the binary, for status
	Log       *slog.Logger
	// Daemon is the argv of the daemon to keep running, started from this process's
	// own executable. Empty: none (keepers of isolated sessions).
	Daemon []string
	// DaemonRuns says that a daemon is there already, about to connect: it started this
	// keeper in the place of one that was killed.
	DaemonRuns bool
	// OpenPTY opens terminals; nil: the system's. Tests use it to have none.
	OpenPTY func() (master, slave *os.File, err error)
	// Pace is how often things are looked at; nil: one of its own.
	Pace *pace.Pace
	// Ready, when not nil, is told "ok\n" once the socket is served, or what went
	// wrong, and closed.
	Ready *os.File
	// Handoff, when not nil, is what the previous execution left (see upgrade.go).
	Handoff *os.File
}

// Keeper is a running keeper.
type Keeper struct {
	cfg      Config
	log      *slog.Logger
	listener *unixsock.Listener // written with mu held
	lock     *os.File           // likewise
	started  time.Time
	runs     uint64 // executions of this process

	// Of Run's goroutine, as are writes to listener and locks.
	stateLock *os.File          // nil: none could be had; written with mu held
	socket    os.FileInfo       // the one we made
	lookError string            // said last
	looks     int               // for what rests
	files     *dirwatch.Watcher // nil: they are looked at every second
	moved     launch.Moved      // the state directory

	cgroups  cgroups
	freeze   sync.RWMutex
	spawning sync.Mutex
	resting  resting
	pace     *pace.Pace
	shims    sync.RWMutex // held for reading while a shim prepares itself, for writing across a re-execution

	mu       sync.Mutex
	children map[string]*child
	conns    map[*conn]struct{}
	super    supervisor
	waiting  map[int]func(syscall.WaitStatus) // helper processes by pid
	// listeners are asked about executions. They outlive their session while a process of its lives.
	listeners map[run]*listener
	lastRun   uint64 // that was given
	refusals  refusals

	stop chan error // receives the reason to end; nil is a clean end
}

const (
	// calmEvery is how often memory is given back that is not needed any more, at rest so much after all else was done.
	calmEvery, calmLate = 5 * time.Second, time.Second / 4
)

// Run serves until it is told to end. It is the whole life of a keeper process.
func Run(cfg Config) error {
	k := &Keeper{
		cfg:      cfg,
		log:      cfg.Log,
		pace:     cmp.Or(cfg.Pace, new(pace.Pace)),
		started:  time.Now(),
		runs:     1,
		children: map[string]*child{},
		conns:    map[*conn]struct{}{},
		waiting:  map[int]func(syscall.WaitStatus){},

		listeners: map[run]*listener{},
		stop:      make(chan error, 1),
	}
	if err := k.begin(); err != nil {
		k.reportReady(err)
		return err
	}
	defer k.end()

	chld := make(chan os.Signal, 1)
	signal.Notify(chld, syscall.SIGCHLD)
	term := make(chan os.Signal, 1)
	// Caught and dropped, not ignored: an ignored signal would stay ignored in children.
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, caught...)
	signal.Notify(term, syscall.SIGTERM)

	go k.accept(k.listener)
	look, calmly := k.pace.Ticker(launch.WatchEvery), k.pace.LateTicker(calmEvery, calmLate)
	defer look.Stop()
	defer calmly.Stop()
	defer k.watchFiles()()
	k.reap() // what ended between two executions
	k.reportReady(nil)
	k.firstDaemon()
	time.AfterFunc(firstClient, k.endIfIdle)
	var memory calm.Memory
	var pages calm.Pages
	for {
		select {
		case <-chld:
			k.pace.Stir()
			k.reap()
		case <-hup:
		case <-look.C():
			look.Next()
			k.look()
			k.dropGone()
			k.rouse()
			k.reportRefusals()
			k.restAll()
		case <-calmly.C():
			calmly.Next()
			rests := k.pace.Resting()
			if given := memory.Look(rests); pages.Due(sys.PageFaults(), given || rests) {
				sys.LeaveOwnPages()
			}
		case <-term:
			k.log.Warn("keeper told to end by SIGTERM; its sessions end with it")
			return nil
		case err := <-k.stop:
			return err
		}
	}
}

// firstDaemon starts the daemon, unless there should be one that is about to connect.
func (k *Keeper) firstDaemon() {
	switch {
	case len(k.cfg.Daemon) == 0:
	case k.cfg.DaemonRuns || k.cfg.Handoff != nil:
		time.AfterFunc(reconnect, func() { k.wantDaemon(nil) })
	default:
		k.wantDaemon(nil)
	}
}

// begin takes over from an earlier execution, or starts afresh.
func (k *Keeper) begin() error {
	if err := becomeSubreaper(); err != nil {
		k.log.Warn("orphans of sessions will not be reaped here", "err", err)
	}
	k.shed()
	if k.cfg.Handoff != nil {
		return k.takeOver(k.cfg.Handoff)
	}
	if err := ownScope(); err != nil {
		k.log.Info("no systemd scope of our own", "why", err)
	}
	k.cgroups.find(k.log)
	if err := k.lockAll(); err != nil {
		return err
	}
	return k.listen()
}

func (k *Keeper) reportReady(err error) {
	if k.cfg.Ready == nil {
		return
	}
	msg := "ok\n"
	if err != nil {
		msg = err.Error() + "\n"
	}
	_, _ = k.cfg.Ready.WriteString(msg)
	_ = k.cfg.Ready.Close()
	k.cfg.Ready = nil
}

// end removes the socket and the locks while these are still held, so that they cannot be a
// successor's.
func (k *Keeper) end() {
	_ = os.Remove(k.cfg.Socket)
	_ = k.listener.Close()
	if k.stateLock != nil {
		_ = os.Remove(k.cfg.StateLock)
		_ = k.stateLock.Close()
	}
	if launch.IsFile(k.lock, k.cfg.Lock) {
		_ = os.Remove(k.cfg.Lock)
	}
	_ = k.lock.Close()
	k.cgroups.close()
}

// finish asks Run to return.
func (k *Keeper) finish(err error) {
	select {
	case k.stop <- err:
	default:
	}
}

// checkPeer lets only our own user (and root) in, with any mode of the socket. It returns the peer.
func checkPeer(c syscall.Conn) (uid, pid int, err error) {
	uid, pid, err = sys.PeerOf(c)
	if own := os.Getuid(); err == nil && uid != own && uid != 0 {
		err = fmt.Errorf("peer of uid %d, this keeper belongs to uid %d", uid, own)
	}
	return uid, pid, err
}
