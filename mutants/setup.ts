import fc from 'fast-check'

// That a property does not hold is enough: nobody reads the smallest example of it.
fc.configureGlobal({ endOnFailure: true })
