import { ApiError, isAlreadyExists, isConflict, isForbidden, isGone, isInvalid, isNotFound } from '../../src/runtime/api-error';

const request = { method: 'POST', path: '/api/v1/namespaces/shop/secrets' };

test('an error names the request, the status, and says what the API server said', () => {
  const error = new ApiError(request, 422, {
    kind: 'Status',
    reason: 'Invalid',
    message: 'Secret "a" is invalid: data: too long',
    details: { name: 'a', kind: 'Secret', causes: [{ reason: 'FieldValueTooLong', field: 'data', message: 'too long' }] },
  });
  expect(error.message).toBe('POST /api/v1/namespaces/shop/secrets: 422 Invalid: Secret "a" is invalid: data: too long');
  expect(error.serverMessage).toBe('Secret "a" is invalid: data: too long');
  expect(error.causes).toEqual([{ reason: 'FieldValueTooLong', field: 'data', message: 'too long' }]);
  expect(isInvalid(error)).toBe(true);
});

test('an answer without a body still has a reason', () => {
  expect(new ApiError(request, 502, {}).message).toBe('POST /api/v1/namespaces/shop/secrets: 502 BadGateway: the API server gave no message');
});

test('that something exists already is no conflict, though both are 409', () => {
  const exists = new ApiError(request, 409, { reason: 'AlreadyExists' });
  const conflict = new ApiError(request, 409, { reason: 'Conflict' });
  expect([isAlreadyExists(exists), isConflict(exists)]).toEqual([true, false]);
  expect([isAlreadyExists(conflict), isConflict(conflict)]).toEqual([false, true]);
});

test.each([
  [404, isNotFound],
  [410, isGone],
  [403, isForbidden],
])('%i is told apart', (status, is) => {
  expect(is(new ApiError(request, status, {}))).toBe(true);
  expect(is(new ApiError(request, 500, {}))).toBe(false);
  expect(is(new Error('404'))).toBe(false);
});

test('the time to wait is taken from the header, else from the body', () => {
  const body = { details: { retryAfterSeconds: 7 } };
  expect(new ApiError(request, 429, body, 3).retryAfterSeconds).toBe(3);
  expect(new ApiError(request, 429, body).retryAfterSeconds).toBe(7);
});
