//go:build unix

package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// openSecrets opens the stored fingerprints of secret values, and their key. done writes new ones.
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
	d.known, err = redact.NewVault(key, kept, redact.Options{
		Names:   func() []string { return d.conf.Get().Secrets.Names },
		Formats: func() bool { return d.conf.Get().Secrets.MaskKnownFormats },
		OnChange: func() {
			select {
			case news <- struct{}{}:
			default:
			}
		},
	})
	if err != nil {
		d.log.Warn("fingerprints of secrets", "err", err)
	}
	d.known.LearnEnv(redact.EnvPairs(os.Environ())) // for sessions without their own
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for over := false; !over; {
			select {
			case <-news:
			case <-stop:
				over = true
			}
			d.saveSecrets()
		}
	}()
	return func() { close(stop); <-ended }, nil
}

// saveSecrets writes new fingerprints.
func (d *Daemon) saveSecrets() {
	b := d.known.Bytes()
	if len(b) == 0 {
		return
	}
	if err := atomicfile.Write(d.cfg.Dirs.SecretsKnown(), atomicfile.Options{}, b); err != nil {
		d.log.Warn("keep fingerprints of secrets", "err", err)
	}
}

// secretsKey reads the key and creates it at first use. Data stored with another key becomes useless.
func secretsKey(path string, log *slog.Logger) (key redact.Key, err error) {
	b, err := os.ReadFile(path)
	switch {
	case err == nil && len(b) == len(key):
		return redact.Key(b), nil
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return key, fmt.Errorf("key of secrets: %w", err)
	}
	key = redact.NewKey()
	if err := atomicfile.Write(path, atomicfile.Options{Sync: atomicfile.Content}, key[:]); err != nil {
		log.Warn("store the key of secrets; a restarted daemon will not recognize them", "err", err)
	}
	return key, nil
}
