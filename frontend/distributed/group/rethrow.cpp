#include "frontend/distributed/group/rethrow.h"

#include "c10/process/error.h"

namespace sy::distributed {

void throw_copy(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const IndexError& e) {
    throw IndexError(e);
  } catch (const TypeError& e) {
    throw TypeError(e);
  } catch (const ValueError& e) {
    throw ValueError(e);
  } catch (const NotImplementedError& e) {
    throw NotImplementedError(e);
  } catch (const OutOfMemoryError& e) {
    throw OutOfMemoryError(e);
  } catch (const InternalError& e) {
    throw InternalError(e);
  } catch (const Error& e) {
    throw Error(e);
  }
}

}  // namespace sy::distributed
