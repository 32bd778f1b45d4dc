//go:build unix

package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/longterm-dev/longterm/session/secrets"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// openSecrets opens what is kept of values that are secret: fingerprints, and the key that they were made
// with. done writes what is new.
func (d *Daemon) openSecrets() (done func(), err error) {
	key, err := secretsKey(d.cfg.Dirs.SecretsKey(), d.log)
	if err != nil {
		return nil, err
	}
	kept, err := os.ReadFile(d.cfg.Dirs.SecretsKnown())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		d.log.Warn("fingerprints of secrets", "err", err)
	}
	news := make(chan struct{}, 1)
	d.known, err = secrets.NewVault(key, kept, secrets.Options{
		Names:   func() []string { return d.conf.Get().Secrets.Names },
		Formats: func() bool { return d.conf.Get().Secrets.Formats },
		Changed: func() {
			select {
			case news <- struct{}{}:
			default:
			}
		},
	})
	if err != nil {
		d.log.Warn("fingerprints of secrets", "err", err)
	}
	d.known.LearnEnv(secrets.Pairs(os.Environ())) // of sessions for which no other is given
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for over := false; !over; {
			select {
			case <-news:
			case <-stop:
				over = true
			}
			d.keepSecrets()
		}
	}()
	return func() { close(stop); <-ended }, nil
}

func (d *Daemon) keepSecrets() {
	b := d.known.Bytes()
	if len(b) == 0 {
		return
	}
	if err := atomicfile.Write(d.cfg.Dirs.SecretsKnown(), atomicfile.Options{}, b); err != nil {
		d.log.Warn("keep fingerprints of secrets", "err", err)
	}
}

// secretsKey reads the key, made on first use. With another one, what was kept would tell nothing.
func secretsKey(path string, log *slog.Logger) (key secrets.Key, err error) {
	b, err := os.ReadFile(path)
	switch {
	case err == nil && len(b) == len(key):
		return secrets.Key(b), nil
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return key, fmt.Errorf("key of secrets: %w", err)
	}
	key = secrets.NewKey()
	if err := atomicfile.Write(path, atomicfile.Options{Sync: atomicfile.Content}, key[:]); err != nil {
		log.Warn("keep the key of secrets; after a restart of the daemon they are not known", "err", err)
	}
	return key, nil
}
