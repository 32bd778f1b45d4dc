package registry

import "hash/maphash"

// view is what a watch has told of each host's keys, so that it tells of a block's records what has changed alone. A key
// of a host of an older version is a block of one record. What is kept of a record is a hash.
type view map[string]viewOfHost

type viewOfHost map[string]map[string]uint64 // by key and record

func (h viewOfHost) has(record string) bool {
	for _, records := range h {
		if _, ok := records[record]; ok {
			return true
		}
	}
	return false
}

var seed = maphash.MakeSeed()

// take takes what a key says now, and tells what of that is new. While a host moves a record from one block to another,
// or was begun anew, the record may be in two: it has not gone before it is in none.
func (v view) take(k *keyed, tell func(e Entry)) {
	if k.record == "" || k.bad { // a block that was spoiled is told anew by its host: until then it is as it was
		k.each(tell)
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
		tell(e)
	})
	if there == len(has) && there > 0 {
		return
	}
	still := map[string]bool{}
	k.records(func(name, _ []byte) { still[string(name)] = true })
	for record := range has {
		if still[record] {
			continue
		}
		if delete(has, record); !keys.has(record) {
			tell(Entry{Host: k.host, Record: record, Gone: true, Time: k.time})
		}
	}
	if len(has) == 0 {
		delete(keys, k.record)
	}
}
