package registry

import "hash/maphash"

// view records what a watch has reported of each host's keys, so that only the changed records of a block are reported.
// A key of an older host counts as a block of one record. Values are stored as hashes.
type view map[string]viewOfHost

// viewOfHost holds the hashes of a host's records, by key and record.
type viewOfHost map[string]map[string]uint64

func (h viewOfHost) has(record string) bool {
	for _, records := range h {
		if _, ok := records[record]; ok {
			return true
		}
	}
	return false
}

// seed is the seed of the hashes.
var seed = maphash.MakeSeed()

// apply applies a key's new value and calls emit for each change. While a host moves a record between blocks, or after
// its restart, a record may be in two blocks. It counts as removed only when no block has it.
func (v view) apply(k *keyValue, emit func(e Entry)) {
	if k.record == "" || k.corrupt { // the host republishes a damaged block; its old records stay valid
		k.each(emit)
		return
	}
	keys := v[k.host]
	if keys == nil {
		keys = viewOfHost{}
		v[k.host] = keys
	}
	has := keys[k.record]
	if has == nil {
		has = map[string]uint64{}
		keys[k.record] = has
	}
	there := 0
	k.records(func(name, value []byte) {
		there++
		sum := maphash.Bytes(seed, value)
		if was, known := has[string(name)]; known && was == sum {
			return
		}
		e := Entry{Host: k.host, Record: string(name), Value: value, Time: k.time}
		has[e.Record] = sum
		emit(e)
	})
	if there == len(has) && there > 0 {
		return
	}
	present := map[string]bool{}
	k.records(func(name, _ []byte) { present[string(name)] = true })
	for record := range has {
		if present[record] {
			continue
		}
		if delete(has, record); !keys.has(record) {
			emit(Entry{Host: k.host, Record: record, Removed: true, Time: k.time})
		}
	}
	if len(has) == 0 {
		delete(keys, k.record)
	}
}
