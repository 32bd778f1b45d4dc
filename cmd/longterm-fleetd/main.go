//go:build unix

// Command longterm-fleetd is the server of a fleet (docs/fleet.md): nats-server with the fleet's certificates and
// subjects. `longterm fleet serve` runs it and describes its options.
//
// It is a program of its own because every verb of longterm would pay for its size and its initialisation.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/longterm-dev/longterm/store/fleet/certs"
	"github.com/longterm-dev/longterm/store/fleet/server"
)

// served describes where the server listens.
type served struct {
	Fleet   string `json:"fleet"`
	Name    string `json:"name"`
	Address string `json:"address"`
	Cluster string `json:"cluster,omitempty"`
}

// config holds the server's flags.
type config struct {
	state, listen, advertise, cluster, routes, dir string
	json                                           bool
}

func main() {
	var c config
	f := flag.NewFlagSet("longterm-fleetd", flag.ExitOnError)
	f.StringVar(&c.state, "state", "", "directory with this machine's part in the fleet")
	f.StringVar(&c.listen, "listen", "0.0.0.0:7722", "address for members, HOST:PORT")
	f.StringVar(&c.advertise, "advertise", "", "address where members reach this server, HOST:PORT (default: where it listens)")
	f.StringVar(&c.cluster, "cluster", "", "address for the other servers of a cluster, HOST:PORT")
	f.StringVar(&c.routes, "route", "", "cluster addresses of other servers, HOST:PORT, with commas between")
	f.StringVar(&c.dir, "dir", "", "directory for what is kept (default: server, in --state)")
	f.BoolVar(&c.json, "json", false, "print JSON")
	f.Usage = func() {
		fmt.Fprintln(f.Output(), "longterm-fleetd is the server of a fleet; `longterm fleet serve` runs it.")
		f.PrintDefaults()
	}
	_ = f.Parse(os.Args[1:]) // which ends the program on mistakes
	if c.state == "" || f.NArg() > 0 {
		f.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := c.serve(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "longterm-fleetd:", err)
		os.Exit(1)
	}
}

// serve runs the server until the context ends, and prints its address once the registry is ready.
func (c *config) serve(ctx context.Context) error {
	dir := certs.Dir(c.state)
	id, err := dir.Identity(certs.Server)
	if err != nil {
		return err
	}
	level := slog.LevelWarn
	if os.Getenv("LONGTERM_DEBUG") != "" {
		level = slog.LevelDebug
	}
	var routes []string
	if c.routes != "" {
		routes = strings.Split(c.routes, ",")
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	s, err := server.Start(server.Config{
		Identity: id, Dir: cmp.Or(c.dir, filepath.Join(c.state, "server")), Listen: c.listen, Advertise: c.advertise, Cluster: c.cluster, Routes: routes,
		Revoked: dir.SignedRevocations(), Log: log,
		OnRevoked: func(signed []byte) {
			if err := dir.KeepRevocations(id.CA, signed); err != nil {
				log.Warn("the list of revocations is not kept", "err", err)
			}
		},
	})
	if err != nil {
		return err
	}
	defer s.Close()
	select {
	case <-s.Ready():
	case <-ctx.Done():
		return nil
	}
	v := served{id.Fleet, id.Name, s.Addr(), s.ClusterAddr()}
	if c.json {
		err = json.NewEncoder(os.Stdout).Encode(v)
	} else {
		_, err = fmt.Println("serving the fleet", v.Fleet, "at", v.Address)
	}
	if err != nil {
		return fmt.Errorf("report the address: %w", err)
	}
	<-ctx.Done()
	return nil
}
